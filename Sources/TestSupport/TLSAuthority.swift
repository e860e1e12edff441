package import OpenSSL

/// An authority that issues certificates for TLS servers and clients of tests.
package struct TLSAuthority: Sendable {
    /// 2010-01-01 to 2100-01-01.
    package static let validity = TestCertificateAuthority.longValidity

    /// The authority's own certificate.
    package let certificate: Certificate
    private let key: SigningKey

    /// Makes a key and a certificate anew.
    ///
    /// - Throws: `OpenSSLError`.
    package init(_ name: String = "Test TLS authority") throws(OpenSSLError) {
        key = try SigningKey(generatedOn: .p256)
        certificate = try CertificateBuilder(
            subject: name, validity: Self.validity, isAuthority: true
        ).selfSigned(by: key)
    }

    /// What whoever trusts it is given.
    package var pem: [UInt8] { certificate.pem }

    /// A certificate and its key.
    ///
    /// - Parameters:
    ///   - subject: The common name.
    ///   - alternativeNames: As OpenSSL writes them: "DNS:localhost", "IP:127.0.0.1".
    ///   - validity: When it is valid.
    /// - Returns: Both in PEM.
    /// - Throws: `OpenSSLError`.
    package func identity(
        _ subject: String, alternativeNames: [String] = [],
        validity: ValidityWindow = TLSAuthority.validity
    ) throws(OpenSSLError) -> TLSContext.Identity {
        let own = try SigningKey(generatedOn: .p256)
        var builder = CertificateBuilder(subject: subject, validity: validity, serialNumber: 7)
        builder.alternativeNames = alternativeNames
        let made = try builder.issued(for: own, by: certificate, key)
        return TLSContext.Identity(certificateChain: made.pem, privateKey: try own.pem())
    }

    /// A server on this machine.
    ///
    /// - Throws: `OpenSSLError`.
    package func server() throws(OpenSSLError) -> TLSContext.Identity {
        try identity("localhost", alternativeNames: ["DNS:localhost", "IP:127.0.0.1", "IP:::1"])
    }
}
