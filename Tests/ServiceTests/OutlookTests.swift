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
        /// Whether the two may share a household and contest chains; then nothing is long.
        let isFamily: Bool
        var clock: Int64 = 1_000
        var next = 0
        var known: [Known] = []

        struct Known {
            var id: String
            var chain: String
            var product: String
            var from: Int64
            var to: Int64?
            var isShared = false
            /// Nil: one of its own.
            var lineItem: String?
        }

        mutating func call() throws -> WriteCall {
            clock += Int64(generator.number(1...60))
            next += 1
            switch generator.number(0...23) {
            case 0 where isFamily: return link(household: "home")
            case 1 where isFamily: return link(chain: generator.pick(["1", "2"]))
            case 2 where !known.isEmpty, 3 where !known.isEmpty: return try refund()
            case 4 where !known.isEmpty: return try again("EXPIRED")
            case 5, 6: return try shared()
            case 7 where known.contains(where: \.isShared): return try purchaseBehind()
            case 8 where known.contains(where: \.isShared): return try revoke()
            case 9 where !known.isEmpty: return try again("REFUND_REVERSED", isUpgraded: true)
            case 10...13: return try coins()
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
            known.append(
                Known(id: "\(100 + next)", chain: chain, product: product, from: clock, to: end))
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
            known.append(
                Known(
                    id: "\(100 + next)", chain: "\(100 + next)", product: "coins", from: clock))
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
            let x = Known(
                id: "\(100 + next)", chain: "3", product: "p", from: clock, to: clock + 50,
                isShared: true, lineItem: "L\(next)")
            known.append(x)
            return try call("SUBSCRIBED", x)
        }

        /// What somebody bought of whom nothing else is known, and shares.
        private mutating func purchaseBehind() throws -> WriteCall {
            var x = generator.pick(known.filter { $0.isShared })
            x.id = "\(100 + next)"
            x.chain = x.id
            x.isShared = false
            known.append(x)
            return try call("SUBSCRIBED", x)
        }

        private mutating func revoke() throws -> WriteCall {
            let x = generator.pick(known.filter { $0.isShared })
            return try call("REVOKE", x, revoked: generator.oneIn(2) ? clock : nil)
        }

        private mutating func refund() throws -> WriteCall {
            let x = generator.oneIn(2) ? known[known.count - 1] : generator.pick(known)
            let kind = generator.pick([nil, "REFUND_FULL", "REFUND_PRORATED"])
            return try call("REFUND", x, revoked: clock, kind: kind)
        }

        private mutating func again(
            _ type: String, isUpgraded: Bool = false
        ) throws -> WriteCall {
            let x = generator.oneIn(2) ? known[known.count - 1] : generator.pick(known)
            return try call(type, x, isUpgraded: isUpgraded)
        }

        private func call(
            _ type: String, _ x: Known, revoked: Int64? = nil, kind: String? = nil,
            isUpgraded: Bool = false
        ) throws -> WriteCall {
            let changes: FixtureChanges = [
                "type": x.to == nil ? "Consumable" : "Auto-Renewable Subscription",
                "webOrderLineItemId": x.lineItem.map { .string($0) },
                "revocationType": kind.map { .string($0) }, "isUpgraded": isUpgraded ? true : nil,
            ]
            return try fixture.notification(
                type, uuid: "n\(next)", signed: clock + 1,
                transaction: fixture.transaction(
                    x.id, original: x.chain, product: x.product, from: x.from, to: x.to,
                    shared: x.isShared, revoked: revoked, signed: clock, changes: changes))
        }
    }

    @Test(arguments: 0..<15)
    func `a long history gives what a whole one gives`(seed: UInt64) throws {
        let pair = try Pair()
        var story = Story(
            generator: SeededGenerator(seed: seed), fixture: pair.whole, isFamily: seed % 3 == 0)
        for (customer, chain) in [("ann", "1"), ("bob", "2"), ("ann", "3")] {
            pair.perform([
                .link(
                    LinkRequest(
                        customerID: customer, identity: .originalTransaction(chain),
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
