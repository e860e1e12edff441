package import AppStore
internal import Bytes
package import OpenSSL

/// A certificate authority shaped like Apple's: root and intermediate on P-384, a leaf on P-256,
/// the marker extensions in place. It signs what a server is to believe that pins its root.
///
/// Every instance has fresh keys: nothing expires in a repository and no private key is kept.
package struct TestCertificateAuthority: Sendable {
    /// One thing that is wrong with the chain.
    package enum Defect: Sendable, CaseIterable {
        /// The leaf lacks 1.2.840.113635.100.6.11.1.
        case leafMarkerMissing
        /// The intermediate lacks 1.2.840.113635.100.6.2.1.
        case intermediateMarkerMissing
        /// The leaf's key is on P-384, for which there is no ES256.
        case leafOnP384
        /// The intermediate's basicConstraints say CA:FALSE.
        case intermediateNotAuthority
        /// The intermediate bears the right names, but another root's key signed it.
        case intermediateOfAnotherRoot
        /// The leaf bears the right names, but another key than the intermediate's signed it.
        case leafOfAnotherIntermediate
    }

    /// 2010-01-01 to 2100-01-01: every date that a test may want.
    package static let longValidity = ValidityWindow(
        notBeforeMilliseconds: 1_262_304_000_000, notAfterMilliseconds: 4_102_444_800_000)

    /// The root to pin.
    package let root: Certificate
    /// The intermediate, `x5c[1]`.
    package let intermediate: Certificate
    /// The signing certificate, `x5c[0]`.
    package let leaf: Certificate
    /// The leaf's key.
    package let leafKey: SigningKey

    let intermediateKey: SigningKey
    private let encodedHeader: [UInt8]

    /// Makes keys and certificates anew, which takes some milliseconds.
    ///
    /// - Parameters:
    ///   - name: Stands in the names of the certificates.
    ///   - leafValidity: When the leaf is valid; the others always have ``longValidity``.
    ///   - defect: What is wrong with the chain.
    /// - Throws: `OpenSSLError`.
    package init(
        name: String = "Test", leafValidity: ValidityWindow = longValidity, defect: Defect? = nil
    ) throws(OpenSSLError) {
        let rootKey = try SigningKey(generatedOn: .p384)
        intermediateKey = try SigningKey(generatedOn: .p384)
        leafKey = try SigningKey(generatedOn: defect == .leafOnP384 ? .p384 : .p256)
        root = try CertificateBuilder(
            subject: "\(name) Root CA", validity: Self.longValidity, isAuthority: true
        ).selfSigned(by: rootKey)
        intermediate = try CertificateBuilder(
            subject: "\(name) Worldwide Developer Relations", validity: Self.longValidity,
            serialNumber: 2, isAuthority: defect != .intermediateNotAuthority,
            markerOIDs: defect == .intermediateMarkerMissing
                ? [] : [ChainPolicy.developerRelationsOID]
        ).issued(
            for: intermediateKey, by: root,
            defect == .intermediateOfAnotherRoot ? SigningKey(generatedOn: .p384) : rootKey)
        leaf = try CertificateBuilder(
            subject: "\(name) Receipt Signing", validity: leafValidity, serialNumber: 3,
            markerOIDs: defect == .leafMarkerMissing ? [] : [ChainPolicy.receiptSignerOID]
        ).issued(
            for: leafKey, by: intermediate,
            defect == .leafOfAnotherIntermediate
                ? SigningKey(generatedOn: .p384) : intermediateKey)
        encodedHeader = Self.encoded(
            Self.header(leaf: leaf, intermediate: intermediate, root: root))
    }

    /// Replaces the leaf by a new one of the same intermediate, as Apple does every year or two.
    ///
    /// - Parameters:
    ///   - old: Keeps its leaf; the new authority shares root and intermediate with it.
    ///   - validity: When the new leaf is valid.
    /// - Throws: `OpenSSLError`.
    package init(
        rotatingLeafOf old: TestCertificateAuthority, validity: ValidityWindow = longValidity
    ) throws(OpenSSLError) {
        root = old.root
        intermediate = old.intermediate
        intermediateKey = old.intermediateKey
        leafKey = try SigningKey(generatedOn: .p256)
        leaf = try CertificateBuilder(
            subject: "Rotated Receipt Signing", validity: validity, serialNumber: 4,
            markerOIDs: [ChainPolicy.receiptSignerOID]
        ).issued(for: leafKey, by: intermediate, intermediateKey)
        encodedHeader = Self.encoded(
            Self.header(leaf: leaf, intermediate: intermediate, root: root))
    }

    /// The root, as a verifier wants it.
    package var trustedRoot: TrustedRoot { TrustedRoot(root) }

    /// The header of what this authority signs: alg ES256 and the chain.
    package var header: FixtureJSON {
        Self.header(leaf: leaf, intermediate: intermediate, root: root)
    }

    /// Signs a payload as Apple does.
    ///
    /// - Parameter payload: The bytes to sign, JSON or not.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func sign(_ payload: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try sign(encodedHeader: encodedHeader, payload: payload)
    }

    /// Signs a payload as Apple does.
    ///
    /// - Parameter payload: The claims.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func sign(_ payload: FixtureJSON) throws(OpenSSLError) -> [UInt8] {
        try sign(payload.utf8)
    }

    /// Signs a payload under a header of the caller's choice.
    ///
    /// - Parameters:
    ///   - header: The whole header.
    ///   - payload: The bytes to sign.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func sign(header: FixtureJSON, payload: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try sign(encodedHeader: Self.encoded(header), payload: payload)
    }

    private func sign(
        encodedHeader: [UInt8], payload: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        var jws = encodedHeader
        jws.append(UInt8(ascii: "."))
        jws += Base64URL.encode(payload.span)
        let signature = try leafKey.signature(of: jws.span)
        jws.append(UInt8(ascii: "."))
        jws += Base64URL.encode(signature.span)
        return jws
    }

    private static func encoded(_ header: FixtureJSON) -> [UInt8] {
        let text = header.utf8
        return Base64URL.encode(text.span)
    }

    private static func header(
        leaf: Certificate, intermediate: Certificate, root: Certificate
    ) -> FixtureJSON {
        let chain = [leaf, intermediate, root].map { certificate -> FixtureJSON in
            let der = certificate.der
            return .string(String(decoding: Base64.encode(der.span), as: UTF8.self))
        }
        return ["alg": "ES256", "x5c": .array(chain)]
    }
}
