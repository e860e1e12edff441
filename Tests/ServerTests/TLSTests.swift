import EntitledClient
import Glibc
import OpenSSL
import TestSupport
import Testing

/// TLS between the built server, the client library and the tool.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct TLSTests {
    /// Certificates in files, and a server that uses them.
    private struct Bench {
        let authority: TLSAuthority
        let files: TemporaryDirectory
        let server: TestServer

        init(
            clientAuthority: TLSAuthority? = nil, listen: [String] = ["127.0.0.1:0"],
            flags: [String] = []
        ) async throws {
            authority = try TLSAuthority()
            files = try TemporaryDirectory()
            let identity = try authority.server()
            var all = [
                "--tls-cert", try files.write(identity.certificateChain, to: "tls.pem"),
                "--tls-key", try files.write(identity.privateKey, to: "tls.key"),
            ]
            if let clientAuthority {
                all += ["--tls-client-ca", try files.write(clientAuthority.pem, to: "clients.pem")]
            }
            server = try await TestServer.start(
                listen: listen, flags: all + flags, keeping: [files])
        }

        func client(
            _ identity: TLSContext.Identity? = nil, trusting authority: TLSAuthority? = nil
        ) throws -> Client {
            var tls = ClientTLS()
            tls.trustedCertificates = (authority ?? self.authority).pem
            tls.certificateChain = identity?.certificateChain
            tls.privateKey = identity?.privateKey
            var configuration = ClientConfiguration()
            configuration.timeout = .seconds(20)
            configuration.attemptCountMax = 2
            configuration.tls = tls
            return try Client(address: server.address, configuration: configuration)
        }

        /// Writes another file, tells the server, and waits until it has read it.
        func reload(_ content: [UInt8], in file: String) async throws -> String {
            let before = server.process.errorOutput.count
            _ = try files.write(content, to: file)
            server.process.send(SIGHUP)
            let process = server.process
            return try await eventually("the configuration is read") {
                let log = String(process.errorOutput.dropFirst(before))
                let isRead = log.contains("configuration reloaded") || log.contains("not reloaded")
                return isRead && log.hasSuffix("\n") ? log : nil
            }
        }
    }

    @Test func `every kind of call works over TLS, and large answers too`() async throws {
        let bench = try await Bench()
        let client = try bench.client()
        defer { client.close() }
        for index in 0..<40 {
            let signed = try bench.server.fixtures.signedText("\(5_000 + index)")
            _ = try await client.ingestTransactions(
                TransactionUpload(customerID: "anna", signedTransactions: [signed]))
        }
        #expect(
            try await client.checkAccess(.customer("anna"), product: "meadow.lifetime").isGranted)
        // Each transaction carries a signed payload of kilobytes.
        let whole = try await client.customer(.customer("anna"))
        #expect(whole.transactions.count == 40)
        #expect(try await bench.server.stop() == .exit(0))
    }

    @Test func `the tool speaks TLS, by flags and by variables`() async throws {
        let clients = try TLSAuthority("Clients")
        let bench = try await Bench(clientAuthority: clients)
        let identity = try clients.identity("backend.example")
        let ca = try bench.files.write(bench.authority.pem, to: "ca.pem")
        let certificate = try bench.files.write(identity.certificateChain, to: "me.pem")
        let key = try bench.files.write(identity.privateKey, to: "me.key")
        let flags = ["--tls-ca", ca, "--tls-cert", certificate, "--tls-key", key]
        let asked = try await bench.server.tool(["check", "anna", "p"] + flags)
        #expect(asked.end == .exit(0) && asked.output.contains("UNKNOWN_CUSTOMER"))
        let variables = [
            "ENTITLECTL_TLS_CA": ca, "ENTITLECTL_TLS_CERT": certificate, "ENTITLECTL_TLS_KEY": key,
        ]
        let again = try await bench.server.tool(["check", "anna", "p"], environment: variables)
        #expect(again.end == .exit(0) && again.output == asked.output)
        // Each way to do it wrong says what is wrong, and does not hang.
        let noCertificate = try await bench.server.tool(["check", "a", "p", "--tls-ca", ca])
        #expect(noCertificate.end == .exit(6))
        let untrusted = try await bench.server.tool(["check", "a", "p", "--tls"])
        #expect(untrusted.end == .exit(6) && untrusted.errorOutput.contains("verify"))
        let wrongName = try await bench.server.tool(
            ["check", "a", "p", "--tls-server-name", "other.example"] + flags)
        #expect(wrongName.end == .exit(6) && wrongName.errorOutput.contains("mismatch"))
        let half = try await bench.server.tool(["check", "a", "p", "--tls-cert", certificate])
        #expect(half.end == .exit(78) && half.errorOutput.contains("belong together"))
        #expect(try await bench.server.stop() == .exit(0))
    }

    @Test func `nobody is served without the certificate that is asked for`() async throws {
        let clients = try TLSAuthority("Clients")
        let bench = try await Bench(clientAuthority: clients)
        let known = try bench.client(try clients.identity("backend.example"))
        defer { known.close() }
        _ = try await known.linkCustomer(
            CustomerLink(customerID: "anna", household: .join("home")))
        for identity in [nil, try TLSAuthority("Others").identity("backend.example")] {
            let stranger = try bench.client(identity)
            defer { stranger.close() }
            await #expect(throws: ClientError.self) {
                try await stranger.linkCustomer(
                    CustomerLink(customerID: "anna", household: .join("another home")))
            }
        }
        #expect(try await known.serverInfo().revision == 1)
        #expect(try await bench.server.stop() == .exit(0))
    }

    @Test func `a Unix socket beside it speaks plain text`() async throws {
        let bench = try await Bench(listen: ["127.0.0.1:0", "unix"])
        let client = try bench.server.client(at: 1)
        defer { client.close() }
        #expect(try await !client.checkAccess(.customer("anna"), product: "p").isGranted)
        let raw = try RawConnection(to: bench.server.address)
        try await raw.send(RawConnection.frame([8, 1]))
        await #expect(throws: (any Error).self) { try await raw.answers(1) }
        #expect(try await bench.server.stop() == .exit(0))
    }

    @Test func `certificates change on SIGHUP, and a bad one leaves the old in place`()
        async throws
    {
        let clients = try TLSAuthority("Clients")
        let bench = try await Bench(clientAuthority: clients)
        let identity = try clients.identity("backend.example")
        let open = try bench.client(identity)
        defer { open.close() }
        _ = try await open.serverInfo()

        let bad = try await bench.reload(Array("-----BEGIN nothing".utf8), in: "tls.pem")
        #expect(bad.contains("configuration not reloaded"))
        let still = try bench.client(identity)
        _ = try await still.serverInfo()
        still.close()

        let next = try bench.authority.server()
        _ = try bench.files.write(next.privateKey, to: "tls.key")
        let good = try await bench.reload(next.certificateChain, in: "tls.pem")
        #expect(good.contains("configuration reloaded"))
        #expect(!good.contains("need a restart"))
        let newcomer = try bench.client(identity)
        _ = try await newcomer.serverInfo()
        newcomer.close()

        // Another authority: who was let in before is not let in again.
        let others = try TLSAuthority("Other clients")
        _ = try await bench.reload(others.pem, in: "clients.pem")
        let late = try bench.client(identity)
        defer { late.close() }
        await #expect(throws: ClientError.self) { try await late.serverInfo() }
        let other = try bench.client(try others.identity("backend.example"))
        _ = try await other.serverInfo()
        other.close()
        #expect(try await open.serverInfo().revision == 0)
        #expect(try await bench.server.stop() == .exit(0))
    }
}
