import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// A small cast whose signed facts and the app's words are delivered in any order.
struct RandomCast {
    var generator: SeededGenerator
    let fixture: ServiceFixture
    let peopleCount: Int
    /// Whether tokens and accounts of one person turn up in another's chains.
    let isEntangled: Bool
    private var nextID = 100

    init(seed: UInt64, fixture: ServiceFixture, isEntangled: Bool) {
        generator = SeededGenerator(seed: seed)
        self.fixture = fixture
        self.isEntangled = isEntangled
        peopleCount = generator.number(2...8)
    }

    var names: [String] { (0..<peopleCount).map { "c\($0)" } }

    /// What the app says: each thing once, and nothing that contradicts another.
    mutating func words(chains: [(chain: String, owner: Int)]) -> [WriteCall] {
        var calls: [WriteCall] = []
        for person in 0..<peopleCount {
            // An account, a token, or each chain in so many words.
            switch isEntangled ? 1 : generator.number(0...2) {
            case 0: calls.append(link(person, .appTransaction("A\(person)")))
            case 1: calls.append(link(person, .appAccountToken("t\(person)")))
            default: break
            }
            for chain in chains where chain.owner == person {
                if isEntangled && generator.oneIn(2) { continue }
                calls.append(link(person, .originalTransaction(chain.chain)))
            }
            if generator.oneIn(2) {
                let household = "h\(generator.number(0...1))"
                calls.append(
                    .link(
                        LinkRequest(
                            customerID: "c\(person)", scope: fixture.scope,
                            householdID: household)))
            }
        }
        return calls
    }

    private func link(_ person: Int, _ identity: CustomerReference) -> WriteCall {
        .link(
            LinkRequest(customerID: "c\(person)", identity: identity, scope: fixture.scope))
    }

    /// Chains with their facts.
    mutating func chains() throws -> [(chain: String, owner: Int, calls: [WriteCall])] {
        var chains: [(chain: String, owner: Int, calls: [WriteCall])] = []
        for person in 0..<peopleCount {
            for _ in 0...generator.number(0...1) {
                nextID += 10
                let calls = try facts(of: "\(nextID)", owner: person)
                chains.append(("\(nextID)", person, calls))
            }
        }
        return chains
    }

    /// The notifications and uploads of one chain: purchases, renewals, refunds, departures.
    private mutating func facts(of chain: String, owner: Int) throws -> [WriteCall] {
        let isShared = generator.oneIn(2)
        let isLifetime = generator.oneIn(3)
        let product = isLifetime ? "life" : generator.pick(["plus", "plus", "pro"])
        var calls: [WriteCall] = []
        for period in 0..<(isLifetime ? 1 : generator.number(1...3)) {
            let id = "\((Int(chain) ?? 0) + period)"
            let start = Int64(generator.number(0...8)) * 1_000
            let length = Int64(generator.number(1...4)) * 1_000
            let names = names(of: owner)
            for _ in 0...generator.number(0...3) {
                let signed = Int64(generator.number(0...12)) * 1_000
                let isRevoked = generator.oneIn(3)
                let copy = try fixture.transaction(
                    id, original: chain, product: product, from: start,
                    to: isLifetime ? nil : start + length, shared: isShared,
                    revoked: isRevoked ? Int64(generator.number(0...12)) * 1_000 : nil,
                    signed: signed, changes: claims(names, isRevoked: isRevoked))
                calls.append(try call(copy, chain: chain, signed: signed, isLifetime: isLifetime))
            }
        }
        return calls
    }

    /// Account and token of a transaction: every copy of it carries the same.
    private mutating func names(of owner: Int) -> (account: String, token: String?) {
        let stranger = generator.number(0...peopleCount - 1)
        let account = isEntangled && generator.oneIn(3) ? stranger : owner
        let token = isEntangled && generator.oneIn(4) ? stranger : owner
        return ("A\(account)", generator.oneIn(2) ? "t\(token)" : nil)
    }

    private mutating func claims(
        _ names: (account: String, token: String?), isRevoked: Bool
    ) -> FixtureChanges {
        let reason = Int64(generator.number(0...1))
        let kind = generator.pick([
            nil, nil, "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE",
        ])
        return [
            "appTransactionId": .string(names.account),
            "appAccountToken": names.token.map { .string($0) },
            "revocationReason": isRevoked ? .integer(reason) : nil,
            "revocationType": isRevoked ? kind.map { .string($0) } : nil,
            "isUpgraded": generator.oneIn(8) ? true : nil,
            // Otherwise each has one of its own, and no family would be recognised.
            "webOrderLineItemId": generator.oneIn(4) ? "L" : nil,
        ]
    }

    private mutating func call(
        _ copy: [UInt8], chain: String, signed: Int64, isLifetime: Bool
    ) throws -> WriteCall {
        if generator.oneIn(5) {
            return .transactions(TransactionUpload(signedTransactions: [copy]))
        }
        let type = generator.pick([
            "SUBSCRIBED", "DID_RENEW", "REFUND", "REFUND_REVERSED", "REVOKE", "REVOKE", "EXPIRED",
            "DID_FAIL_TO_RENEW", "LATER_TYPE",
        ])
        var renewal: [UInt8]?
        if !isLifetime && generator.oneIn(3) {
            renewal = try fixture.renewal(
                chain, signed: Int64(generator.number(0...12)) * 1_000,
                changes: [
                    "isInBillingRetryPeriod": generator.oneIn(2) ? true : nil,
                    "gracePeriodExpiresDate": generator.oneIn(2)
                        ? .integer(ServiceFixture.date(Int64(generator.number(0...12)) * 1_000))
                        : nil,
                ])
        }
        return try fixture.notification(
            type, signed: signed, transaction: copy, renewal: renewal,
            status: generator.pick([nil, nil, 1, 2, 4, 5]))
    }
}

/// What can be asked of a service about a cast, so that two services can be compared.
struct CastAnswers: Equatable, CustomStringConvertible {
    var lines: [String] = []

    init(_ fixture: ServiceFixture, names: [String]) throws {
        for name in names {
            for product in ["plus", "pro", "life"] {
                for offset in stride(from: Int64(-500), through: 13_000, by: 500) {
                    let verdict = try fixture.check(name, product, at: offset)
                    lines.append(
                        "\(name) \(product) @\(offset): \(verdict.reason) "
                            + "until \(verdict.validUntil - ServiceFixture.epoch) "
                            + "by \(verdict.transactionID) \(verdict.ownership)")
                }
            }
            guard let view = try? fixture.view(.customer(name)) else { continue }
            for transaction in view.transactions {
                lines.append(
                    "\(name) has \(transaction.transaction) \(transaction.isOverridden) "
                        + "\(transaction.isSuspended)")
            }
            for status in view.entitlements { lines.append("\(name) \(status)") }
        }
    }

    var description: String { "\(lines.count) answers" }

    /// The first lines that differ.
    func difference(from other: CastAnswers) -> String {
        let pairs = zip(lines, other.lines).filter { $0 != $1 }.prefix(3)
        return pairs.map { "\($0) | \($1)" }.joined(separator: "\n")
            + " (\(lines.count), \(other.lines.count))"
    }
}

@Suite struct OrderTests {
    /// Delivers `calls` in an order of their own, some of them again later.
    private func deliver(
        _ calls: [WriteCall], to fixture: ServiceFixture, _ generator: inout SeededGenerator,
        repeats: Bool
    ) {
        var order = calls.shuffled(using: &generator)
        if repeats {
            order += calls.filter { _ in generator.oneIn(3) }
            order.shuffle(using: &generator)
        }
        var rest = order[...]
        while !rest.isEmpty {
            let group = Array(rest.prefix(generator.number(1...6)))
            rest = rest.dropFirst(group.count)
            for case .failure(let refusal) in fixture.desk.performGroup(group) {
                Issue.record("refused: \(refusal)")
            }
        }
    }

    /// Nobody's names turn up at anybody else's: facts and words may come in any order.
    @Test(arguments: UInt64(1)...24)
    func `facts and words in any order give the same answers`(seed: UInt64) throws {
        let first = try ServiceFixture.cutting()
        var cast = RandomCast(seed: seed, fixture: first, isEntangled: false)
        let chains = try cast.chains()
        let words = cast.words(chains: chains.map { ($0.chain, $0.owner) })
        let calls = chains.flatMap(\.calls) + words
        deliver(calls, to: first, &cast.generator, repeats: false)
        let expected = try CastAnswers(first, names: cast.names)
        for _ in 0..<3 {
            let other = try ServiceFixture.cutting()
            deliver(calls, to: other, &cast.generator, repeats: true)
            let answers = try CastAnswers(other, names: cast.names)
            #expect(
                answers == expected, "seed \(seed): \(answers.difference(from: expected))")
        }
        // The same store, opened again without a table.
        let reopened = try ServiceFixture(
            store: first.store, catalog: Catalog(familyCut: .matched), isWarm: false)
        #expect(try CastAnswers(reopened, names: cast.names) == expected, "seed \(seed)")
    }

    /// Tokens and accounts cross; what was said stands before the facts come.
    @Test(arguments: UInt64(1_000)...1_024)
    func `where people's names cross, the facts may still come in any order`(seed: UInt64) throws {
        let first = try ServiceFixture.cutting()
        var cast = RandomCast(seed: seed, fixture: first, isEntangled: true)
        let chains = try cast.chains()
        let words = cast.words(chains: chains.map { ($0.chain, $0.owner) })
        let facts = chains.flatMap(\.calls)
        for word in words { _ = try first.desk.perform(word).get() }
        deliver(facts, to: first, &cast.generator, repeats: false)
        let expected = try CastAnswers(first, names: cast.names)
        for _ in 0..<3 {
            let other = try ServiceFixture.cutting()
            for word in words.shuffled(using: &cast.generator) {
                _ = try other.desk.perform(word).get()
            }
            deliver(facts, to: other, &cast.generator, repeats: true)
            let answers = try CastAnswers(other, names: cast.names)
            #expect(
                answers == expected, "seed \(seed): \(answers.difference(from: expected))")
        }
    }

    /// One product, few dates: families are recognised, doubted and recognised again.
    @Test(arguments: UInt64(3_000)...3_039)
    func `families are recognised in any order of what is signed and said`(seed: UInt64) throws {
        let first = try ServiceFixture.cutting()
        var generator = SeededGenerator(seed: seed)
        var calls: [WriteCall] = []
        let peopleCount = generator.number(3...9)
        for person in 0..<peopleCount {
            for copy in 0..<generator.number(1...2) {
                let id = "\(person * 10 + copy + 100)"
                let isShared = !generator.oneIn(4)
                let start = Int64(generator.number(1...2)) * 1_000
                for _ in 0..<generator.number(1...3) {
                    let signed = Int64(generator.number(2...12)) * 1_000
                    let revoked = generator.oneIn(3) ? signed - 500 : nil
                    let line: FixtureJSON? = generator.pick([nil, nil, nil, "L", "M"])
                    calls.append(
                        try first.notification(
                            generator.pick(["SUBSCRIBED", "REFUND", "REVOKE", "EXPIRED"]),
                            signed: signed,
                            transaction: try first.transaction(
                                id, product: "plus", from: start, to: 20_000, shared: isShared,
                                revoked: revoked, signed: signed,
                                changes: ["webOrderLineItemId": line])))
                }
                if generator.oneIn(2) {
                    calls.append(link("c\(person)", .originalTransaction(id), first.scope))
                }
            }
            if generator.oneIn(4) {
                calls.append(
                    .link(
                        LinkRequest(
                            customerID: "c\(person)", scope: first.scope, householdID: "h")))
            }
        }
        let names = (0..<peopleCount).map { "c\($0)" }
        deliver(calls, to: first, &generator, repeats: false)
        #expect(try first.storedMatches() == first.expectedMatches(), "seed \(seed)")
        let expected = try CastAnswers(first, names: names)
        for _ in 0..<4 {
            let other = try ServiceFixture.cutting()
            deliver(calls, to: other, &generator, repeats: true)
            let answers = try CastAnswers(other, names: names)
            #expect(answers == expected, "seed \(seed): \(answers.difference(from: expected))")
            #expect(try other.storedMatches() == other.expectedMatches(), "seed \(seed)")
        }
    }

    private func link(
        _ name: String, _ identity: CustomerReference, _ scope: ScopeIndex
    ) -> WriteCall {
        .link(LinkRequest(customerID: name, identity: identity, scope: scope))
    }

    /// What a fold of all facts says is what event after event came to.
    @Test(arguments: UInt64(2_000)...2_011)
    func `a rebuild of any history finds nothing to change`(seed: UInt64) throws {
        let fixture = try ServiceFixture.cutting()
        var cast = RandomCast(seed: seed, fixture: fixture, isEntangled: seed.isMultiple(of: 2))
        let chains = try cast.chains()
        let words = cast.words(chains: chains.map { ($0.chain, $0.owner) })
        for word in words { _ = try fixture.desk.perform(word).get() }
        deliver(chains.flatMap(\.calls), to: fixture, &cast.generator, repeats: true)
        let revision = fixture.service.revision
        for name in cast.names {
            let call = WriteCall.rebuild(
                RebuildRequest(customer: .customer(name), scope: fixture.scope))
            guard case .success(.rebuild(let reply)) = fixture.desk.perform(call) else { continue }
            #expect(reply.changes == [], "seed \(seed), \(name)")
        }
        #expect(fixture.service.revision == revision, "seed \(seed)")
    }
}
