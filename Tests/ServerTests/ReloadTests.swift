import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// What SIGHUP does to a server that runs.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ReloadTests {
    /// A configuration file with these products.
    private func file(_ products: String, _ more: String = "") -> String {
        "{ apps: [{ bundleId: 'com.example.meadow', products: { \(products) } }], \(more) }"
    }

    private func season(_ server: TestServer) throws -> String {
        let jws = try server.fixtures.transaction(
            "7100", product: "season", purchased: Dates.bought,
            changes: ["type": "Non-Renewing Subscription"])
        return String(decoding: jws, as: UTF8.self)
    }

    @Test func `a duration and a name apply to the next check, and are taken back by the next`()
        async throws
    {
        let server = try await TestServer.start(file: file("season: { duration: '1d' }"))
        let client = try server.client()
        defer { client.close() }
        _ = try await client.ingestTransactions(
            TransactionUpload(customerID: "anna", signedTransactions: [try season(server)]))
        #expect(try await !client.checkAccess(.customer("anna"), product: "season").isGranted)
        let revision = try await client.serverInfo().revision

        let log = try await server.reload(
            file("season: { duration: '36500d', entitlements: ['plus'] }"))
        #expect(log.contains("\"catalog\":\"changed\""))
        #expect(try await client.checkAccess(.customer("anna"), product: "season").isGranted)
        let named = try await client.checkAccess(
            AccessQuestion(customer: .customer("anna"), subject: .entitlement("plus")))
        #expect(named.isGranted && named.productID == "season")

        _ = try await server.reload(file("season: { duration: '1d' }"))
        #expect(try await !client.checkAccess(.customer("anna"), product: "season").isGranted)
        // Nothing was rewritten.
        #expect(try await client.serverInfo().revision == revision)
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `checks on every connection are answered by the new catalog once it is read`()
        async throws
    {
        let server = try await TestServer.start(
            flags: ["--threads", "3"], file: file("season: { duration: '1d' }"))
        let clients = try (0..<6).map { _ in try server.client() }
        defer { for client in clients { client.close() } }
        _ = try await clients[0].ingestTransactions(
            TransactionUpload(customerID: "anna", signedTransactions: [try season(server)]))
        for client in clients {
            #expect(try await !client.checkAccess(.customer("anna"), product: "season").isGranted)
        }
        for round in 0..<6 {
            _ = try await server.reload(
                file("season: { duration: '\(round % 2 == 0 ? "36500d" : "1d")' }"))
            for client in clients {
                let answer = try await client.checkAccess(.customer("anna"), product: "season")
                #expect(answer.isGranted == (round % 2 == 0))
            }
        }
    }

    @Test(arguments: ["{ lgo: 1 }", "{", "{ apps: [{ bundleId: 'x' }, { bundleId: 'y' }] }"])
    func `a bad file changes nothing and is named, and the server goes on`(bad: String) async throws
    {
        let server = try await TestServer.start(file: file("season: { duration: '36500d' }"))
        let client = try server.client()
        defer { client.close() }
        _ = try await client.ingestTransactions(
            TransactionUpload(customerID: "anna", signedTransactions: [try season(server)]))
        let log = try await server.reload(bad)
        #expect(log.contains("configuration not reloaded") && log.contains("\"level\":\"error\""))
        #expect(try await client.checkAccess(.customer("anna"), product: "season").isGranted)
        #expect(try await server.reload(file("")).contains("configuration reloaded"))
        #expect(try await !client.checkAccess(.customer("anna"), product: "season").isGranted)
    }

    @Test func `what cannot apply is named`() async throws {
        let server = try await TestServer.start(file: file(""))
        let log = try await server.reload(file("", "family: { cut: 'off' }, workers: 3"))
        #expect(log.contains("\"settings\":\"workers\""))
        #expect(log.contains("\"catalog\":\"changed\""))
    }
}
