import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// The same events at a server that keeps every history whole and at one to which three
/// transactions are a long history.
@Suite struct OutlookTests {
    private struct Pair {
        let whole: ServiceFixture
        let long: ServiceFixture

        init() throws {
            whole = try ServiceFixture()
            long = try ServiceFixture {
                $0.longHistoryLimits = LongHistoryLimits(
                    transactionCountMax: 3, headCount: 2, chainCountMax: 40)
            }
            let now = Timestamp(milliseconds: ServiceFixture.date(2_000))
            (whole.clock.now, long.clock.now) = (now, now)
        }

        func perform(_ calls: [WriteCall]) {
            let replies = [whole, long].map { $0.desk.performGroup(calls).map { $0.kind } }
            #expect(replies[0] == replies[1])
        }

        func compare(_ customer: String, _ instants: [Int64]) throws {
            for product in ["p", "q", "coins"] {
                for instant in instants {
                    let verdicts = try [whole, long].map {
                        try $0.check(customer, product, at: instant)
                    }
                    #expect(verdicts[0] == verdicts[1], "\(customer) \(product) at \(instant)")
                }
            }
        }

        /// What stands under each key but snapshots and customers' records, whose layouts differ.
        func compareStores() throws {
            for keyspace in Keyspace.allCases where keyspace != .snapshots && keyspace != .customers
            {
                let records = try [whole, long].map { fixture in
                    var records: [[UInt8]: [UInt8]] = [:]
                    try fixture.store.scan(keyspace, prefix: [], from: nil, reversed: false) {
                        records[$0] = $1
                        return true
                    }
                    return records
                }
                #expect(records[0] == records[1], "\(keyspace)")
            }
        }

        /// A rebuild finds nothing to repair.
        func rebuild(_ customer: String) throws {
            for fixture in [whole, long] {
                let revision = fixture.service.revision
                let call = WriteCall.rebuild(
                    RebuildRequest(customer: .customer(customer), scope: fixture.scope))
                guard case .rebuild(let reply) = try fixture.desk.perform(call).get() else {
                    throw UnexpectedReply()
                }
                #expect(reply.changes.isEmpty)
                #expect(fixture.service.revision == revision)
            }
        }
    }

    private struct Story {
        var generator: SeededGenerator
        let fixture: ServiceFixture
        var clock: Int64 = 1_000
        var next = 0
        var known: [(id: String, chain: String, product: String, from: Int64, to: Int64?)] = []

        mutating func call() throws -> WriteCall {
            clock += Int64(generator.number(1...60))
            next += 1
            switch generator.number(0...19) {
            case 0: return link(household: "home")
            case 1: return link(chain: generator.pick(["1", "2"]))
            case 2 where !known.isEmpty: return try refund()
            case 3 where !known.isEmpty: return try again("EXPIRED")
            case 4: return try shared()
            case 5...9: return try coins()
            default: return try renewal()
            }
        }

        private func link(household: String = "", chain: String? = nil) -> WriteCall {
            .link(
                LinkRequest(
                    customerID: next % 2 == 0 ? "ann" : "bob",
                    identity: chain.map { .originalTransaction($0) }, scope: fixture.scope,
                    isTransfer: next % 3 == 0, householdID: household))
        }

        private mutating func renewal() throws -> WriteCall {
            let chain = generator.pick(["1", "1", "1", "2"])
            let product = generator.oneIn(8) ? "q" : "p"
            let end = clock + Int64(generator.number(10...90))
            known.append(("\(100 + next)", chain, product, clock, end))
            var changes: FixtureChanges = [:]
            if generator.oneIn(10) { changes = ["isUpgraded": true] }
            let retry = generator.oneIn(4)
            return try fixture.notification(
                "DID_RENEW", uuid: "n\(next)", signed: clock + 1,
                transaction: fixture.transaction(
                    "\(100 + next)", original: chain, product: product, from: clock, to: end,
                    changes: changes),
                renewal: fixture.renewal(
                    chain, signed: clock + 1,
                    changes: [
                        "isInBillingRetryPeriod": .boolean(retry),
                        "gracePeriodExpiresDate": retry
                            ? .integer(ServiceFixture.date(end + 20)) : nil,
                    ]))
        }

        private mutating func coins() throws -> WriteCall {
            known.append(("\(100 + next)", "\(100 + next)", "coins", clock, nil))
            return .transactions(
                TransactionUpload(
                    customerID: "ann",
                    signedTransactions: [
                        try fixture.transaction(
                            "\(100 + next)", product: "coins", from: clock,
                            changes: ["type": "Consumable"])
                    ]))
        }

        private mutating func shared() throws -> WriteCall {
            try fixture.notification(
                "SUBSCRIBED", uuid: "n\(next)", signed: clock + 1,
                transaction: fixture.transaction(
                    "\(100 + next)", original: "3", from: clock, to: clock + 50, shared: true))
        }

        private mutating func refund() throws -> WriteCall {
            let x = generator.pick(known)
            return try fixture.notification(
                "REFUND", uuid: "n\(next)", signed: clock + 1,
                transaction: fixture.transaction(
                    x.id, original: x.chain, product: x.product, from: x.from, to: x.to,
                    revoked: clock, signed: clock,
                    changes: x.to == nil ? ["type": "Consumable"] : [:]))
        }

        private mutating func again(_ type: String) throws -> WriteCall {
            let x = generator.oneIn(2) ? known[known.count - 1] : generator.pick(known)
            return try fixture.notification(
                type, uuid: "n\(next)", signed: clock + 1,
                transaction: fixture.transaction(
                    x.id, original: x.chain, product: x.product, from: x.from, to: x.to,
                    signed: clock, changes: x.to == nil ? ["type": "Consumable"] : [:]))
        }
    }

    @Test(arguments: 0..<12)
    func `a long history gives what a whole one gives`(seed: UInt64) throws {
        let pair = try Pair()
        var story = Story(generator: SeededGenerator(seed: seed), fixture: pair.whole)
        for customer in ["ann", "bob"] {
            pair.perform([
                .link(
                    LinkRequest(
                        customerID: customer,
                        identity: .originalTransaction(customer == "ann" ? "1" : "2"),
                        scope: pair.whole.scope))
            ])
        }
        for round in 0..<24 {
            var calls: [WriteCall] = []
            for _ in 0..<story.generator.number(1...3) { calls.append(try story.call()) }
            pair.perform(calls)
            guard round % 4 == 3 else { continue }
            for customer in ["ann", "bob"] {
                try pair.compare(
                    customer,
                    [story.clock, story.clock + 40]
                        + (0..<6).map { _ in
                            Int64(story.generator.number(900...3_500))
                        })
            }
        }
        try pair.compareStores()
        try pair.rebuild("ann")
        try pair.rebuild("bob")
    }
}

extension Result<WriteReply, Refusal> {
    /// The reply, or the reason of the refusal.
    fileprivate var kind: String {
        switch self {
        case .success(let reply): "\(reply)"
        case .failure(let refusal): "\(refusal.reason)"
        }
    }
}
