import AppStore
import AppStoreServerAPI
import Entitlements
import HTTP
import Synchronization
import TestSupport
import Testing

/// Answers that nobody would send, a thousand of each: none crashes, and none brings in what was
/// not signed.
@Suite struct HostileAnswerTests {
    private let clock = TestClock()

    private func pages() throws -> (history: [UInt8], statuses: [UInt8]) {
        let fixtures = try Desk.fixtures()
        let month = try fixtures.transaction(
            "730", product: "month", purchased: Desk.march, expires: Desk.april8)
        let renewal = try fixtures.renewal(
            "730", product: "month", renewal: Desk.april8, signed: Desk.march)
        let history = page([item(month), item(month)], revision: "r", hasMore: false)
        let statuses = json([
            "data": [
                [
                    "lastTransactions": [
                        [
                            "originalTransactionId": "730", "status": 1,
                            "signedTransactionInfo": item(month),
                            "signedRenewalInfo": item(renewal),
                        ]
                    ]
                ]
            ]
        ])
        return (history.body, statuses.body)
    }

    private func damaged(_ body: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var body = body
        switch random.number(0...3) {
        case 0: return Array(body.prefix(random.number(0...body.count)))
        case 1: body[random.number(0...body.count - 1)] = UInt8(random.number(0...255))
        case 2:
            let start = random.number(0...body.count - 1)
            body.removeSubrange(start..<min(body.count, start + random.number(1...40)))
        default:
            let start = random.number(0...body.count - 1)
            let part = body[start..<min(body.count, start + random.number(1...200))]
            body.insert(contentsOf: part, at: random.number(0...body.count))
        }
        return body
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `a damaged answer is an error or a problem, never another purchase`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (history, statuses) = try pages()
        for _ in 0..<250 {
            let isFirst = random.oneIn(2)
            let server = CannedServer(responses: [
                HTTPResponse(status: 200, body: isFirst ? damaged(history, &random) : history),
                HTTPResponse(status: 200, body: isFirst ? statuses : damaged(statuses, &random)),
            ])
            let client = try Desk.client(server, clock)
            let read: AppleHistory
            do throws(HistoryFailure) {
                read = try client.history(
                    of: [.init(id: "730", chains: [])], in: Desk.production, wantsStatuses: true,
                    deadline: clock.now.adding(milliseconds: 1_000))
            } catch {
                read = error.partial
                #expect(!error.error.message.contains("eyJ"), "seed \(seed)")
            }
            #expect(
                read.transactions.allSatisfy { $0.transaction.transactionID == "730" },
                "seed \(seed)")
            #expect(read.problems.allSatisfy { !$0.error.message.contains("eyJ") }, "seed \(seed)")
        }
    }

    @Test func `several threads share one client, its token and its budget`() async throws {
        let clock = TestClock()
        let appStore = try Desk.appStore(clock)
        let account = appStore.account("acct")
        for number in 1...30 {
            account.add(
                try Desk.fixtures().transactionClaims(
                    "\(number)", product: "p", purchased: Desk.march))
        }
        let server = CannedServer(appStore: appStore)
        let client = try Desk.client(server, clock)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let history = try? client.history(
                        of: [.init(id: "acct", chains: [])], in: Desk.production,
                        wantsStatuses: false, deadline: .distantFuture)
                    return history?.transactions.count ?? 0
                }
            }
            for await count in group { #expect(count == 30) }
        }
        #expect(server.records.withLock(\.count) == 16)
        #expect(appStore.requests.allSatisfy { $0.status == 200 })
    }
}
