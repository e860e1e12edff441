import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct LedgerImportsTests {
    private func compare(
        _ source: ServiceFixture, _ names: [String], seed: UInt64,
        _ make: () throws -> ServiceFixture
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let expected = try CastAnswers(source, names: names)
        let exported = try ExportedFacts(source, byteCountMax: generator.pick([1_000, 6_000]))
        let target = try make()
        try exported.hand(to: target, &generator)
        let found = try CastAnswers(target, names: names)
        #expect(found == expected, "seed \(seed): \(found.difference(from: expected))")
        // Once more changes nothing, and says so.
        let revision = target.service.revision
        for row in exported.rows {
            let reply = try target.importing([row])
            #expect(reply.learntCount == 0 && reply.changes.isEmpty, "seed \(seed)")
        }
        #expect(target.service.revision == revision, "seed \(seed)")
        let check = try StoreCheck(
            target.store, onFinding: { Issue.record("\($0), seed \(seed)") })
        check.run()
        #expect(check.findingCount == 0)
    }

    /// Refunds, departures, grace, family copies, households; names cross in every other.
    @Test(arguments: UInt64(5_000)...5_039)
    func `what is exported and imported gives the same answers`(seed: UInt64) throws {
        let source = try ServiceFixture.cutting()
        var cast = RandomCast(seed: seed, fixture: source, isEntangled: seed.isMultiple(of: 2))
        let chains = try cast.chains()
        let words = cast.words(chains: chains.map { ($0.chain, $0.owner) })
        for call in words + chains.flatMap(\.calls).shuffled(using: &cast.generator) {
            _ = try source.desk.perform(call).get()
        }
        try compare(source, cast.names, seed: seed) { try ServiceFixture.cutting() }
    }

    /// Links, moves and uploads in any contradiction; some people have lost all that they had.
    @Test(arguments: UInt64(6_000)...6_029)
    func `what was moved from one to another stays where it was moved`(seed: UInt64) throws {
        let source = try ServiceFixture()
        var world = InvariantTests.World(
            fixture: source, generator: SeededGenerator(seed: seed))
        for _ in 0..<40 { _ = source.desk.perform(try world.call()) }
        let exported = try ExportedFacts(source, byteCountMax: 2_000)
        let target = try ServiceFixture()
        try exported.hand(to: target, &world.generator)
        for person in world.people {
            for offset in stride(from: Int64(0), to: 10_000, by: 500) {
                var found = try target.check(person, at: offset)
                let expected = try source.check(person, at: offset)
                found.revision = expected.revision
                #expect(found == expected, "seed \(seed): \(person) at \(offset)")
            }
        }
        #expect(
            target.service.reader.serverInfo().transactionCount
                == source.service.reader.serverInfo().transactionCount, "seed \(seed)")
    }

    @Test func `what is known here gets no older`() throws {
        let old = try ServiceFixture()
        try old.upload("ann", try old.transaction("1", to: 9_000))
        let exported = try ExportedFacts(old)
        let new = try ServiceFixture()
        try new.upload("ann", try new.transaction("1", to: 9_000, revoked: 3_000))
        let reply = try new.importing(exported.rows)
        #expect(reply.learntCount == 0 && reply.changes.isEmpty && reply.problems.isEmpty)
        #expect(try new.reason("ann") == .refunded)
        // The other way round the newer copy wins.
        let news = try old.importing(try ExportedFacts(new).rows)
        #expect(news.learntCount == 1 && news.changes.map(\.isGranted) == [false])
        #expect(try old.reason("ann") == .refunded)
    }

    @Test func `a departure without a date and its end are brought along`() throws {
        let source = try ServiceFixture()
        let copy = try source.transaction("1", to: 90_000, shared: true)
        try source.link("ann", .originalTransaction("1"))
        try source.notify("SUBSCRIBED", transaction: copy)
        try source.notify("REVOKE", signed: 4_000, transaction: copy)
        var target = try ServiceFixture()
        try target.importing(try ExportedFacts(source).rows)
        #expect(try target.reason("ann") == .familyLeft)
        #expect(try target.reason("ann", at: 3_999) == .active)
        try source.notify("EXPIRED", signed: 5_000, transaction: copy, status: 1)
        let rows = try ExportedFacts(source).rows
        try target.importing(rows)
        #expect(try target.reason("ann") == .active)
        target = try ServiceFixture()
        try target.importing(rows)
        #expect(try target.reason("ann") == .active)
    }

    @Test func `a dry run changes nothing and tells what would change`() throws {
        let source = try ServiceFixture()
        try source.upload("ann", try source.transaction("1", to: 9_000))
        source.clock.now = Timestamp(milliseconds: ServiceFixture.date(2_000))
        let target = try ServiceFixture()
        target.clock.now = source.clock.now
        let rows = try ExportedFacts(source).rows
        let dry = try target.importing(rows, isDryRun: true)
        #expect(dry.learntCount == 1 && dry.revision == 0)
        #expect(dry.changes.map(\.customerID) == ["ann"] && dry.changes.map(\.isGranted) == [true])
        #expect(try target.reason("ann") == .unknownCustomer)
        #expect(target.service.revision == 0)
        let wet = try target.importing(rows)
        #expect(wet.changes == dry.changes && wet.revision == 1)
        #expect(try target.view(.customer("ann")).audit.map(\.action) == ["IMPORTED"])
    }

    @Test func `a chain that is another customer's here stays his and is told`() throws {
        let source = try ServiceFixture()
        try source.upload("ann", try source.transaction("1", to: 9_000))
        let target = try ServiceFixture()
        try target.link("zoe", .originalTransaction("1"))
        let reply = try target.importing(try ExportedFacts(source).rows)
        #expect(reply.problems.map(\.position) == [0] && reply.problems[0].isTakenIn)
        #expect(reply.problems[0].refusal.reason == .identityConflict)
        #expect(try target.reason("zoe") == .active)
        #expect(try target.reason("ann") == .noPurchase)
    }

    @Test func `people whom nobody has named are found by Apple's names again`() throws {
        let source = try ServiceFixture()
        for id in ["1", "2"] {
            try source.notify(
                "SUBSCRIBED",
                transaction: try source.transaction(
                    id, to: 9_000, changes: ["appTransactionId": "A1"]))
        }
        let rows = try ExportedFacts(source).rows
        #expect(rows.allSatisfy { $0.customer == .appTransaction("A1") } && rows.count == 2)
        let target = try ServiceFixture()
        for row in rows { #expect(try target.importing([row]).problems.isEmpty) }
        #expect(try target.view(.appTransaction("A1")).transactionCount == 2)
        #expect(target.service.reader.serverInfo().customerCount == 1)
        try target.link("ann", .appTransaction("A1"))
        #expect(try target.reason("ann") == .active)
    }

    /// In parts, from the newest purchase to the oldest, as an export has them.
    @Test func `a long history gives the same answers`() throws {
        let limits = LongHistoryLimits(transactionCountMax: 40, headCount: 4, chainCountMax: 30)
        let source = try ServiceFixture { $0.longHistoryLimits = limits }
        for number in 1...150 {
            let start = Int64(number) * 50
            try source.upload(
                "ann",
                try source.transaction(
                    "\(number)", original: "\(number % 3 + 1)", from: start, to: start + 60,
                    revoked: number % 11 == 0 ? start + 20 : nil,
                    changes: number % 7 == 0 ? ["isUpgraded": true] : [:]))
        }
        let exported = try ExportedFacts(source)
        let target = try ServiceFixture { $0.longHistoryLimits = limits }
        var rest = exported.rows[...]
        while !rest.isEmpty {
            try target.importing(Array(rest.prefix(20)))
            rest = rest.dropFirst(20)
        }
        for offset in stride(from: Int64(0), through: 8_000, by: 10) {
            var found = try target.check("ann", at: offset)
            let expected = try source.check("ann", at: offset)
            found.revision = expected.revision
            #expect(found == expected, "at \(offset)")
        }
    }
}
