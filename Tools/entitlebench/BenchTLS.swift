internal import EntitledClient
internal import HTTP
internal import LoadGenerator
internal import OpenSSL
internal import TestSupport
internal import ToolSupport

/// How the harness speaks TLS to the server that it drives.
struct BenchTLS: Equatable, Sendable {
    /// The certificates (PEM) that are trusted.
    let trustedCertificates: [UInt8]

    /// Own servers and targets are on loopback.
    private static let serverName = "127.0.0.1"

    /// What `--tls-ca` names; nil = it was not said.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read.
    init?(_ bench: Bench) throws(CommandFailure) {
        guard let path = bench.value("tls-ca") else { return nil }
        trustedCertificates = try SystemCalls.readFile(path)
    }

    private init(trusting certificates: [UInt8]) { trustedCertificates = certificates }

    /// A throw-away certificate for a server of our own, in files.
    ///
    /// - Throws: `CommandFailure`.
    static func make(
        in directory: String
    ) throws(CommandFailure) -> (tls: BenchTLS, serverFlags: [String]) {
        let authority: TestCertificateAuthority
        let identity: HTTPServerIdentity
        do throws(OpenSSLError) {
            authority = try TestCertificateAuthority(name: "Benchmark TLS")
            identity = try authority.serverIdentity()
        } catch {
            throw CommandFailure(.failed, "no test certificate: \(error)")
        }
        let certificate = directory + "/tls.pem"
        let key = directory + "/tls.key"
        try SystemCalls.writeFile(certificate, identity.certificateChain)
        try SystemCalls.writeFile(key, identity.privateKey)
        return (
            BenchTLS(trusting: authority.root.pem), ["--tls-cert", certificate, "--tls-key", key]
        )
    }

    /// TLS of the generator.
    ///
    /// - Throws: `CommandFailure` when these are no certificates.
    func load() throws(CommandFailure) -> LoadTLS {
        do throws(OpenSSLError) {
            return LoadTLS(
                context: try TLSContext(client: trustedCertificates), host: Self.serverName)
        } catch {
            throw CommandFailure(.usage, "--tls-ca: \(error)")
        }
    }

    /// TLS of a client.
    var client: ClientTLS {
        var tls = ClientTLS()
        tls.trustedCertificates = trustedCertificates
        tls.serverName = Self.serverName
        return tls
    }
}
