import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// Facts that come in by notifications and by Apple's histories, whole and cut, in any order.
@Suite struct HistoryOrderTests {
    /// What is delivered.
    private enum Delivery {
        case call(WriteCall)
        case history(AppleHistory, of: String, isWhole: Bool)
    }

    /// Copies of a few people's transactions; each person's chains are linked beforehand.
    private struct Cast {
        let fixture: ServiceFixture
        var generator: SeededGenerator
        let names = ["c0", "c1", "c2"]

        func chains(of name: String) -> [String] {
            let number = (names.firstIndex(of: name) ?? 0) * 100 + 100
            return ["\(number)", "\(number + 10)"]
        }

        /// One copy of one period of a chain.
        mutating func copy(of chain: String, _ name: String) throws -> (id: String, jws: [UInt8]) {
            let period = generator.number(0...1)
            let id = "\((Int(chain) ?? 0) + period)"
            let isLifetime = chain.hasSuffix("10")
            let start = Int64(period) * 2_000
            let isRevoked = generator.oneIn(4)
            let jws = try fixture.transaction(
                isLifetime ? chain : id, original: chain, product: isLifetime ? "life" : "plus",
                from: isLifetime ? 0 : start, to: isLifetime ? nil : start + 3_000,
                shared: name != "c0",
                revoked: isRevoked ? Int64(generator.number(0...9)) * 1_000 : nil,
                signed: Int64(generator.number(0...12)) * 1_000,
                changes: ["appTransactionId": .string("A\(name)")])
            return (isLifetime ? chain : id, jws)
        }

        mutating func history(of name: String) throws -> Delivery {
            var copies: [[UInt8]] = []
            var statuses: [FixtureStatus] = []
            for chain in chains(of: name) {
                for _ in 0...generator.number(0...2) {
                    let copy = try copy(of: chain, name)
                    copies.append(copy.jws)
                    guard generator.oneIn(2) else { continue }
                    statuses.append(
                        FixtureStatus(
                            chain: chain, transaction: copy.id,
                            status: generator.pick([1, 2, 3, 4, 5]),
                            signed: Int64(generator.number(0...12)) * 1_000))
                }
            }
            let renewals = try (0...generator.number(0...1)).map { _ in
                try fixture.renewal(
                    chains(of: name)[0], signed: Int64(generator.number(0...12)) * 1_000,
                    changes: ["isInBillingRetryPeriod": generator.oneIn(2) ? true : nil])
            }
            let history = try fixture.history(
                of: copies.shuffled(using: &generator), renewals: renewals, statuses: statuses)
            return .history(history, of: name, isWhole: generator.oneIn(2))
        }

        mutating func deliveries() throws -> [Delivery] {
            var deliveries: [Delivery] = []
            for name in names {
                for _ in 0...generator.number(1...3) {
                    deliveries.append(try history(of: name))
                }
                for chain in chains(of: name) {
                    for _ in 0...generator.number(0...3) {
                        let type = generator.pick([
                            "SUBSCRIBED", "REVOKE", "REVOKE", "REFUND", "REFUND_REVERSED",
                        ])
                        deliveries.append(
                            .call(
                                try fixture.notification(
                                    type, signed: Int64(generator.number(0...12)) * 1_000,
                                    transaction: try copy(of: chain, name).jws,
                                    status: generator.pick([nil, 1, 5]))))
                    }
                }
            }
            return deliveries
        }
    }

    private func link(_ cast: Cast, in fixture: ServiceFixture) throws {
        for name in cast.names {
            for chain in cast.chains(of: name) {
                try fixture.link(name, .originalTransaction(chain), household: "h")
            }
        }
    }

    private func deliver(_ deliveries: [Delivery], to fixture: ServiceFixture) throws {
        for delivery in deliveries {
            switch delivery {
            case .call(let call): _ = try fixture.desk.perform(call).get()
            case .history(let history, let name, let isWhole):
                let plan = try fixture.plan(.customer(name))
                if isWhole {
                    try fixture.apply(history, by: plan)
                } else {
                    try fixture.keep(history, by: plan)
                }
            }
        }
    }

    private func answers(_ fixture: ServiceFixture, _ cast: Cast) throws -> CastAnswers {
        try CastAnswers(fixture, names: cast.names)
    }

    @Test(arguments: UInt64(1)...16)
    func `histories before or after notifications give the same answers`(seed: UInt64) throws {
        let first = try ServiceFixture.fetching()
        var cast = Cast(fixture: first, generator: SeededGenerator(seed: seed))
        let deliveries = try cast.deliveries()
        try link(cast, in: first)
        try deliver(deliveries, to: first)
        let expected = try answers(first, cast)
        for _ in 0..<3 {
            let other = try ServiceFixture.fetching()
            try link(cast, in: other)
            var order = deliveries + deliveries.filter { _ in cast.generator.oneIn(3) }
            order.shuffle(using: &cast.generator)
            try deliver(order, to: other)
            let found = try answers(other, cast)
            #expect(found == expected, "seed \(seed): \(found.difference(from: expected))")
        }
        // Nobody is anybody else for it, and a restart changes nothing.
        #expect(first.service.reader.serverInfo().customerCount == 3)
        let reopened = try ServiceFixture.fetching(store: first.store)
        #expect(try answers(reopened, cast) == expected, "seed \(seed)")
        #expect(try reopened.queue() == first.queue())
    }

    /// The same cut anywhere: a process that dies in mid-rebuild, and the next one that finishes.
    @Test(arguments: UInt64(100)...106)
    func `a rebuild that was cut and finished by another process is a rebuild`(
        seed: UInt64
    ) throws {
        let whole = try ServiceFixture.fetching()
        var cast = Cast(fixture: whole, generator: SeededGenerator(seed: seed))
        guard case .history(let history, let name, _) = try cast.history(of: "c1") else { return }
        try link(cast, in: whole)
        try whole.rebuild(name, history)
        let expected = try answers(whole, cast)
        for cut in 0...history.transactions.count {
            let first = try ServiceFixture.fetching()
            try link(cast, in: first)
            let plan = try first.plan(.customer(name))
            try first.commit(first.service.event(queueing: [plan.key], for: .admin))
            var part = history
            part.transactions = Array(history.transactions.prefix(cut))
            part.renewals = []
            part.statuses = []
            try first.keep(part, by: plan)
            let second = try ServiceFixture.fetching(store: first.store)
            #expect(try second.queue() == ["c1 ADMIN"])
            try second.apply(history, by: try second.queuedPlan())
            #expect(try second.queue() == [])
            #expect(try answers(second, cast) == expected, "seed \(seed), cut at \(cut)")
        }
    }

    @Test(arguments: UInt64(200)...206)
    func `a dry run foretells what comes, and leaves the store to the byte`(seed: UInt64) throws {
        let fixture = try ServiceFixture.fetching()
        var cast = Cast(fixture: fixture, generator: SeededGenerator(seed: seed))
        try link(cast, in: fixture)
        try deliver(try cast.deliveries(), to: fixture)
        for name in cast.names {
            guard case .history(let history, _, _) = try cast.history(of: name) else { return }
            let records = try fixture.records()
            let revision = fixture.service.revision
            let dry = try fixture.rebuild(name, history, dryRun: true)
            #expect(try fixture.records() == records, "seed \(seed)")
            #expect(dry.revision == revision && fixture.service.revision == revision)
            let real = try fixture.rebuild(name, history)
            #expect(real.changes == dry.changes, "seed \(seed)")
            #expect(real.entitlements == dry.entitlements, "seed \(seed)")
        }
    }
}
