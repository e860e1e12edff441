internal import Bytes
package import HTTP
package import OpenSSL

extension TestCertificateAuthority {
    /// A certificate for a server on this machine, issued by the intermediate: a client that
    /// trusts the root accepts it for 127.0.0.1, ::1 and localhost.
    ///
    /// - Throws: `OpenSSLError`.
    package func serverIdentity() throws(OpenSSLError) -> HTTPServerIdentity {
        let key = try SigningKey(generatedOn: .p256)
        var builder = CertificateBuilder(
            subject: "localhost", validity: Self.longValidity, serialNumber: 5)
        builder.alternativeNames = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
        let certificate = try builder.issued(for: key, by: intermediate, intermediateKey)
        return HTTPServerIdentity(
            certificateChain: certificate.pem + intermediate.pem, privateKey: try key.pem())
    }
}

extension Certificate {
    /// The certificate in PEM.
    package var pem: [UInt8] {
        let der = der
        var lines = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        var rest = Base64.encode(der.span)[...]
        while !rest.isEmpty {
            lines += rest.prefix(64) + [UInt8(ascii: "\n")]
            rest = rest.dropFirst(64)
        }
        return lines + Array("-----END CERTIFICATE-----\n".utf8)
    }
}
