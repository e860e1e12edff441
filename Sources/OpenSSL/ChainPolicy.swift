internal import COpenSSL

/// Why a chain of certificates does not count.
package enum ChainError: Error, Equatable, Sendable {
    /// No path of exactly leaf, intermediate, pinned root; `reason` is for people.
    case untrusted(reason: String)
    /// A trusted chain whose leaf or intermediate lacks the extension `oid`.
    case markerMissing(oid: String)
}

/// Decides whether a leaf and an intermediate lead to one of the pinned roots.
///
/// Exactly leaf, intermediate, root: no partial chain, no longer one, no other certificate between.
/// Time is left out: what the caller checks is old when it is checked, and only the caller knows
/// the instant that counts. `X509_STORE` may be shared by threads (OpenSSL's threads(7)).
@safe package final class ChainPolicy: @unchecked Sendable {
    /// The extension of Apple's certificates that sign for the App Store.
    package static let receiptSignerOID = "1.2.840.113635.100.6.11.1"
    /// The extension of Apple's Worldwide Developer Relations intermediates.
    package static let developerRelationsOID = "1.2.840.113635.100.6.2.1"

    private let store: OpaquePointer
    private let leafMarker: String
    private let intermediateMarker: String

    /// Pins the roots.
    ///
    /// - Parameters:
    ///   - roots: The only certificates where a chain may end.
    ///   - leafMarker: The extension that a leaf must have.
    ///   - intermediateMarker: The extension that an intermediate must have.
    /// - Throws: ``OpenSSLError`` when a root cannot be stored.
    package init(
        roots: [Certificate], leafMarker: String = receiptSignerOID,
        intermediateMarker: String = developerRelationsOID
    ) throws(OpenSSLError) {
        let attempt = "pin a root certificate"
        unsafe store = try unsafe OpenSSLError.unwrap(X509_STORE_new(), attempt)
        self.leafMarker = leafMarker
        self.intermediateMarker = intermediateMarker
        for root in roots {
            try OpenSSLError.check(unsafe X509_STORE_add_cert(store, root.x509), attempt)
        }
        let parameters = unsafe X509_STORE_get0_param(store)
        // Level 1: no SHA-1 signature, no key under 80 bits of strength.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 1)
        // leaf, one intermediate, root.
        unsafe X509_VERIFY_PARAM_set_depth(parameters, 1)
        try OpenSSLError.check(
            unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME)), attempt
        )
    }

    deinit {
        unsafe X509_STORE_free(store)
    }

    /// Checks trust first and the marker extensions after it.
    ///
    /// - Parameters:
    ///   - leaf: The certificate that signed a message.
    ///   - intermediate: The certificate that must have issued the leaf.
    /// - Returns: The instants at which leaf, intermediate and root are all valid.
    /// - Throws: ``ChainError``.
    package func verify(
        leaf: Certificate, intermediate: Certificate
    ) throws(ChainError) -> ValidityWindow {
        let window = try trust(leaf: leaf, intermediate: intermediate)
        guard leaf.hasExtension(oid: leafMarker) else { throw .markerMissing(oid: leafMarker) }
        guard intermediate.hasExtension(oid: intermediateMarker) else {
            throw .markerMissing(oid: intermediateMarker)
        }
        return window
    }

    private func trust(
        leaf: Certificate, intermediate: Certificate
    ) throws(ChainError) -> ValidityWindow {
        defer { ERR_clear_error() }
        guard let untrusted = unsafe entitled_x509_stack_new() else { throw outOfMemory }
        defer { unsafe entitled_x509_stack_free(untrusted) }
        guard unsafe entitled_x509_stack_push(untrusted, intermediate.x509) > 0,
            let context = unsafe X509_STORE_CTX_new()
        else { throw outOfMemory }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, store, leaf.x509, untrusted) == 1 else {
            throw outOfMemory
        }
        guard unsafe X509_verify_cert(context) == 1 else {
            let code = unsafe X509_STORE_CTX_get_error(context)
            throw .untrusted(
                reason: unsafe String(cString: X509_verify_cert_error_string(Int(code))))
        }
        guard let chain = unsafe X509_STORE_CTX_get0_chain(context),
            unsafe entitled_x509_stack_count(chain) == 3,
            let issuer = unsafe entitled_x509_stack_at(chain, 1),
            let root = unsafe entitled_x509_stack_at(chain, 2),
            unsafe X509_cmp(issuer, intermediate.x509) == 0
        else { throw .untrusted(reason: "the path is not leaf, intermediate, pinned root") }
        guard intermediate.isAuthority, unsafe X509_check_ca(root) == 1 else {
            throw .untrusted(reason: "an issuer is no certificate authority")
        }
        guard unsafe X509_up_ref(root) == 1 else { throw outOfMemory }
        guard let pinned = try? unsafe Certificate(owning: root) else { throw outOfMemory }
        return leaf.validity.intersection(intermediate.validity).intersection(pinned.validity)
    }

    private var outOfMemory: ChainError { .untrusted(reason: "OpenSSL is out of memory") }
}
