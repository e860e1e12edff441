import Bytes
import HTTP
import OpenSSL

/// A certificate authority with one server certificate, made anew for a test.
struct TestIdentity {
    static let validity = ValidityWindow(
        notBeforeMilliseconds: 1_262_304_000_000, notAfterMilliseconds: 4_102_444_800_000)

    /// The root, for a client to trust; PEM.
    let root: [UInt8]
    /// What the server shows.
    let server: HTTPServerIdentity

    init(
        names: [String] = ["DNS:localhost", "IP:127.0.0.1"], validity: ValidityWindow = validity
    ) throws {
        let rootKey = try SigningKey(generatedOn: .p256)
        let key = try SigningKey(generatedOn: .p256)
        let root = try CertificateBuilder(
            subject: "Test TLS Root", validity: Self.validity, isAuthority: true
        ).selfSigned(by: rootKey)
        var builder = CertificateBuilder(
            subject: "Test Server", validity: validity, serialNumber: 2)
        builder.alternativeNames = names
        let leaf = try builder.issued(for: key, by: root, rootKey)
        self.root = Self.pem(root)
        server = HTTPServerIdentity(
            certificateChain: Self.pem(leaf), privateKey: try key.pem())
    }

    private static func pem(_ certificate: Certificate) -> [UInt8] {
        var lines = ["-----BEGIN CERTIFICATE-----"]
        var text = Base64.encode(certificate.der.span)[...]
        while !text.isEmpty {
            lines.append(String(decoding: text.prefix(64), as: UTF8.self))
            text = text.dropFirst(64)
        }
        lines.append("-----END CERTIFICATE-----\n")
        return Array(lines.joined(separator: "\n").utf8)
    }
}
