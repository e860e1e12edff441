import AppStore
import AppStoreServerAPI
import Entitlements
import HTTP
import TestSupport
import Testing

@Suite struct HistoryStatusTests {
    private let clock = TestClock()
    private let fixtures: SignedFixtures

    init() throws { fixtures = try Desk.fixtures() }

    private let empty = page([], revision: "r", hasMore: false)

    /// An item of Get All Subscription Statuses.
    private func status(
        _ chain: String, _ status: FixtureJSON?, product: String = "meadow.plus.month",
        changes: FixtureChanges = [:], renewalOf renewal: String? = nil
    ) throws -> FixtureJSON {
        var item: FixtureJSON = [
            "originalTransactionId": .string(chain),
            "signedTransactionInfo": AppStoreServerAPITests.item(
                try fixtures.transaction(
                    chain, product: product, purchased: Desk.march, expires: Desk.april8,
                    signed: Desk.april8)),
            "signedRenewalInfo": AppStoreServerAPITests.item(
                try fixtures.renewal(
                    renewal ?? chain, product: product, renewal: Desk.april8, signed: Desk.april8)),
        ]
        item["status"] = status
        return item.changed(changes)
    }

    private func groups(_ groups: [[FixtureJSON]]) -> HTTPResponse {
        let data = groups.enumerated().map { index, items -> FixtureJSON in
            [
                "subscriptionGroupIdentifier": .string("2100000\(index)"),
                "lastTransactions": .array(items),
            ]
        }
        return json(["environment": "Production", "data": .array(data)])
    }

    private func fetch(_ responses: [HTTPResponse], wantsStatuses: Bool = true) throws
        -> (history: AppleHistory, error: AppStoreServerError?, targets: [String])
    {
        let server = CannedServer(responses: responses)
        let client = try Desk.client(server, clock)
        do throws(HistoryFailure) {
            let history = try client.history(
                of: [.init(id: "2000000100000730", chains: [])], in: Desk.production,
                wantsStatuses: wantsStatuses, deadline: .april8(60_000))
            return (history, nil, server.requests.map(\.request.target))
        } catch {
            return (error.partial, error.error, server.requests.map(\.request.target))
        }
    }

    @Test func `every chain of every group is read, not the first alone`() throws {
        let answer = groups([
            [try status("730", 2), try status("731", 5)],
            [try status("740", 1, product: "meadow.radio.month")],
        ])
        let outcome = try fetch([empty, answer])
        #expect(outcome.error == nil && outcome.history.problems.isEmpty)
        #expect(
            outcome.targets.last
                == "https://api.example/inApps/v1/subscriptions/2000000100000730")
        let statuses = outcome.history.statuses
        #expect(statuses.map(\.originalTransactionID) == ["730", "731", "740"])
        #expect(statuses.map(\.status) == [2, 5, 1])
        #expect(statuses.allSatisfy { $0.signedDate == .april8() })
        #expect(outcome.history.renewals.count == 3)
        #expect(outcome.history.transactions.count == 3)
    }

    @Test func `no groups are no statuses`() throws {
        let outcome = try fetch([empty, groups([])])
        #expect(outcome.error == nil && outcome.history == AppleHistory(scope: Desk.production))
    }

    @Test func `statuses are asked for when a page shows a subscription, and else only if wanted`()
        throws
    {
        let month = item(
            try fixtures.transaction(
                "730", product: "meadow.plus.month", purchased: Desk.march, expires: Desk.april8))
        let shows = try fetch(
            [page([month], revision: "r", hasMore: false), groups([])], wantsStatuses: false)
        #expect(shows.targets.count == 2)
        let showsNot = try fetch([empty], wantsStatuses: false)
        #expect(showsNot.targets.count == 1 && showsNot.error == nil)
    }

    @Test func `what is wrong with one item costs that item only`() throws {
        let answer = groups([
            [
                try status("1", 1, renewalOf: "2"), try status("2", nil), try status("3", "1"),
                try status("4", .verbatim("99999999999")),
                try status("5", 1, changes: ["originalTransactionId": "6"]),
                try status("7", 1, changes: ["signedTransactionInfo": nil]),
                try status("8", 1, changes: ["signedRenewalInfo": "x.y.z"]),
                try status("9", 1, changes: ["signedRenewalInfo": 7]),
                try status("10", 1, changes: ["signedRenewalInfo": .null]), 7, .null,
                try status("11", 6),
            ]
        ])
        let outcome = try fetch([empty, answer])
        #expect(outcome.error == nil)
        let statuses = outcome.history.statuses
        #expect(statuses.map(\.originalTransactionID) == ["1", "3", "8", "9", "10", "11"])
        #expect(statuses.last?.status == 6)
        #expect(
            outcome.history.problems.map(\.error.reason) == [
                "RENEWAL_MISMATCH", "MISSING_CLAIM", "MISSING_CLAIM", "MALFORMED_PAYLOAD",
                "MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD",
                "MALFORMED_PAYLOAD",
            ])
        #expect(
            outcome.history.renewals.map(\.renewal.originalTransactionID)
                == ["2", "3", "4", "5", "11"])
    }

    @Test func `a group that is none is a problem`() throws {
        let outcome = try fetch([
            empty, json(["data": [7, ["lastTransactions": "x"], ["lastTransactions": []]]]),
        ])
        #expect(outcome.error == nil && outcome.history.problems.count == 2)
    }

    @Test(arguments: [json([:]), json(["data": "x"]), json(["data": .null])])
    func `an answer without data is none`(answer: HTTPResponse) throws {
        guard case .malformed? = try fetch([empty, answer]).error else {
            Issue.record("taken")
            return
        }
    }

    @Test func `an id that has a history and no statuses is no failure`() throws {
        let outcome = try fetch([empty, refusal(4_040_010)])
        #expect(outcome.error == nil)
        #expect(outcome.history.problems.map(\.place) == ["statuses of id 1 of 1"])
    }

    @Test func `statuses that do not come make the whole incomplete`() throws {
        let month = item(
            try fixtures.transaction("730", product: "p", purchased: Desk.march, expires: 1))
        let outcome = try fetch(
            [page([month], revision: "r", hasMore: false)]
                + Array(repeating: HTTPResponse(status: 503), count: 5))
        guard case .unavailable? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.history.transactions.count == 1)
    }
}
