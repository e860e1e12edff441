import AppStore
@testable import AppStoreServerAPI
import Entitlements
import HTTP
import TestSupport
import Testing

@Suite struct HistoryFetchTests {
    private let clock = TestClock()
    private let fixtures: SignedFixtures

    init() throws { fixtures = try Desk.fixtures() }

    /// A copy of a non-consumable.
    private func copy(
        _ id: String, original: String? = nil, expires: Int64? = nil, revoked: Int64? = nil,
        signed: Int64 = Desk.march
    ) throws -> FixtureJSON {
        item(
            try fixtures.transaction(
                id, original: original, product: "meadow.lifetime", purchased: Desk.march - 1,
                expires: expires, revoked: revoked, signed: signed))
    }

    private func target(_ id: String, _ chains: [String] = []) -> AppStoreServerClient.Target {
        .init(id: id, chains: chains)
    }

    private func fetch(
        _ server: CannedServer, _ targets: [AppStoreServerClient.Target]? = nil,
        wantsStatuses: Bool = false,
        _ adjust: (inout AppStoreServerConfiguration) -> Void = { _ in }
    ) throws -> (history: AppleHistory, error: AppStoreServerError?) {
        let client = try Desk.client(server, clock, adjust)
        do throws(HistoryFailure) {
            return (
                try client.history(
                    of: targets ?? [target("2000000100000705")], in: Desk.production,
                    wantsStatuses: wantsStatuses, deadline: .april8(600_000)), nil
            )
        } catch {
            return (error.partial, error.error)
        }
    }

    // MARK: Pages

    @Test func `a purchase that is revoked while the pages are turned comes again, and both stand`()
        throws
    {
        let ids = (701...745).map { "2000000100000\($0)" }
        var copies = try ids.map { try copy($0) }
        let revoked = try copy(ids[4], revoked: Desk.march + 30_000, signed: Desk.march + 31_000)
        copies.append(revoked)
        let server = CannedServer(responses: [
            page(Array(copies[0..<20]), revision: "r1", hasMore: true),
            page(Array(copies[20..<40]), revision: "r2", hasMore: true),
            page(Array(copies[40...]), revision: "r3", hasMore: false),
        ])
        let outcome = try fetch(server)
        #expect(outcome.error == nil)
        #expect(outcome.history.itemCount == 46 && outcome.history.problems.isEmpty)
        let again = outcome.history.transactions.map(\.transaction).filter {
            $0.transactionID == ids[4]
        }
        #expect(again.map(\.revocationDate?.milliseconds) == [nil, Desk.march + 30_000])
        #expect(
            server.requests.map(\.request.target)
                == ["", "&revision=r1", "&revision=r2"].map {
                    "https://api.example/inApps/v2/history/2000000100000705?sort=ASCENDING" + $0
                })
    }

    @Test func `a damaged item is a problem, and the others stand`() throws {
        let good = try copy("1")
        var broken = try fixtures.transaction("2", product: "p", purchased: Desk.march)
        // Another letter of the alphabet, whatever stands there.
        broken[broken.count - 2] =
            broken[broken.count - 2] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let other = SignedFixtures(
            authority: fixtures.authority, bundleID: "com.example.other", appAppleID: 1_600_000_002)
        let stranger = try other.transaction("3", product: "p", purchased: Desk.march)
        let sandbox = try Desk.fixtures(environment: "Sandbox")
            .transaction("4", product: "p", purchased: Desk.march)
        let items: [FixtureJSON] = [
            item(broken), 7, .null, good, item(stranger), item(sandbox), "no.jws", ["a"],
        ]
        let outcome = try fetch(
            CannedServer(responses: [page(items, revision: "r", hasMore: false)]))
        #expect(outcome.error == nil)
        #expect(outcome.history.transactions.map(\.transaction.transactionID) == ["1"])
        #expect(outcome.history.itemCount == 8)
        #expect(
            outcome.history.problems.map(\.error.reason) == [
                "BAD_SIGNATURE", "MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD", "WRONG_APP",
                "WRONG_ENVIRONMENT", "MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD",
            ])
        #expect(outcome.history.problems.first?.place == "id 1 of 1, page 1, item 1")
        let text = "\(outcome.history.problems)"
        #expect(!text.contains("eyJ") && !text.contains("2000000100000705"))
    }

    @Test func `ids that come as numbers survive digit for digit`() throws {
        let id = "504319184420155589"
        let jws = try fixtures.transaction(
            id, product: "p", purchased: Desk.march,
            changes: [
                "transactionId": .verbatim(id), "originalTransactionId": .verbatim(id),
            ])
        let outcome = try fetch(
            CannedServer(responses: [page([item(jws)], revision: "r", hasMore: false)]))
        #expect(outcome.history.transactions.first?.transaction.transactionID == id)
        #expect(outcome.history.transactions.first?.transaction.originalTransactionID == id)
    }

    @Test(arguments: [["r1", "r1"], ["r1", "r2", "r1"]])
    func `a revision that comes again ends the paging with an error`(revisions: [String]) throws {
        let one = try copy("1")
        let server = CannedServer(
            responses: revisions.map { page([one], revision: .string($0), hasMore: true) })
        let outcome = try fetch(server)
        guard case .malformed? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.history.transactions.count == revisions.count)
    }

    @Test func `paging without end ends`() throws {
        let pages = (0..<50).map { page([], revision: .string("r\($0)"), hasMore: true) }
        let server = CannedServer(responses: pages)
        let outcome = try fetch(server) { $0.pageCountMax = 10 }
        guard case .malformed? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(server.requests.count == 10)
    }

    @Test(arguments: [
        page([], revision: "r", hasMore: nil), page([], revision: nil, hasMore: true),
        page([], revision: "r", hasMore: 1), json(["hasMore": false, "signedTransactions": "x"]),
        json([:]), HTTPResponse(status: 200), HTTPResponse(status: 200, body: Array("{".utf8)),
    ])
    func `a page that may be half never passes for the whole, and what came before is kept`(
        second: HTTPResponse
    ) throws {
        let one = try copy("1")
        let server = CannedServer(responses: [page([one], revision: "r1", hasMore: true), second])
        let outcome = try fetch(server)
        guard case .malformed? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.history.transactions.count == 1)
    }

    @Test func `a fetch that is throttled half way hands over what it has`() throws {
        let one = try copy("1")
        let busy = refusal(4_290_000, fields: [HTTPField("Retry-After", "1775644200000")])
        let outcome = try fetch(
            CannedServer(responses: [page([one], revision: "r1", hasMore: true), busy]))
        #expect(outcome.error == .throttled(until: .april8(1_800_000)))
        #expect(outcome.history.transactions.count == 1)
    }

    // MARK: Ids

    @Test func `an id whose chains came with another is not asked for`() throws {
        let server = CannedServer(responses: [
            page([try copy("1"), try copy("2", original: "2")], revision: "r", hasMore: false),
            page([try copy("9")], revision: "r", hasMore: false),
        ])
        let outcome = try fetch(
            server, [target("acct", ["1"]), target("2", ["2"]), target("3", ["2", "9"])])
        #expect(outcome.error == nil)
        #expect(
            server.requests.map { $0.request.target.split(separator: "/").last } == [
                "acct?sort=ASCENDING", "3?sort=ASCENDING",
            ])
    }

    @Test func `one id that Apple does not know does not hide what the others bring`() throws {
        let server = CannedServer(responses: [
            refusal(4_040_010), page([try copy("9")], revision: "r", hasMore: false),
            refusal(4_000_006),
        ])
        let outcome = try fetch(server, [target("gone"), target("9"), target("odd")])
        #expect(outcome.error == nil)
        #expect(outcome.history.transactions.count == 1)
        #expect(outcome.history.problems.map(\.place) == ["id 1 of 3", "id 3 of 3"])
    }

    @Test func `the chains of an account that Apple does not know are asked for instead`() throws {
        let server = CannedServer(responses: [
            refusal(4_000_048), page([try copy("1")], revision: "r", hasMore: false),
            page([try copy("2"), try copy("3")], revision: "r", hasMore: false),
        ])
        let outcome = try fetch(server, [target("acct", ["1", "2", "3"])])
        #expect(outcome.error == nil)
        #expect(outcome.history.transactions.count == 3)
        #expect(
            server.requests.map { $0.request.target.split(separator: "/").last } == [
                "acct?sort=ASCENDING", "1?sort=ASCENDING", "2?sort=ASCENDING",
            ])
    }

    @Test func `an id that is lost between two pages is no id without a history`() throws {
        let server = CannedServer(responses: [
            page([try copy("1")], revision: "r1", hasMore: true), refusal(4_040_010),
            page([try copy("9")], revision: "r", hasMore: false),
        ])
        let outcome = try fetch(server, [target("a"), target("9")])
        guard case .malformed? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.history.transactions.count == 1)
    }

    @Test func `when Apple knows none of the ids, that is the answer`() throws {
        let server = CannedServer(responses: [
            refusal(4_040_010), refusal(4_000_006), refusal(4_040_010),
        ])
        let client = try Desk.client(server, clock, environments: [.production])
        let failure = historyFailure { () throws(HistoryFailure) in
            try client.history(
                of: [target("a"), target("b"), target("c")], in: Desk.production,
                wantsStatuses: true, deadline: .april8(60_000))
        }
        guard case .notFound(4_040_010, _)? = failure?.error else {
            Issue.record("\(String(describing: failure?.error))")
            return
        }
        #expect(server.requests.count == 3)
        #expect(failure?.partial.problems.isEmpty == true, "nothing came that could be doubted")
    }

    @Test func `nobody to ask about is nothing to ask`() throws {
        let server = CannedServer()
        let outcome = try fetch(server, [], wantsStatuses: true)
        #expect(outcome.error == nil && server.requests.isEmpty)
    }

    @Test func `an error that is not about the id ends the fetch`() throws {
        let server = CannedServer(responses: [refusal(4_000_005)])
        let outcome = try fetch(server, [target("a"), target("b")])
        guard case .rejected(4_000_005, _)? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(server.requests.count == 1)
    }
}
