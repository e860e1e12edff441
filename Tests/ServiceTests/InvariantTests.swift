import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// Everything that people may say, in any order and contradiction, over facts whose names cross.
@Suite struct InvariantTests {
    struct World {
        let fixture: ServiceFixture
        var generator: SeededGenerator
        var sent: [WriteCall] = []
        let people = ["ann", "bob", "cyn", "dan"]
        let chains = (1...6).map { "\($0 * 10)" }

        mutating func identity() -> CustomerReference {
            switch generator.number(0...3) {
            case 0: .appAccountToken("t\(generator.number(1...4))")
            case 1: .appTransaction("A\(generator.number(1...4))")
            default: .originalTransaction(generator.pick(chains))
            }
        }

        mutating func copy() throws -> [UInt8] {
            let chain = generator.pick(chains)
            let id = "\((Int(chain) ?? 0) + generator.number(0...2))"
            let start = Int64(generator.number(0...6)) * 1_000
            let isShared = generator.oneIn(3)
            return try fixture.transaction(
                id, original: chain, from: start, to: start + 2_000, shared: isShared,
                revoked: generator.oneIn(4) ? 3_000 : nil,
                signed: Int64(generator.number(0...9)) * 1_000,
                changes: [
                    "appAccountToken": generator.oneIn(2)
                        ? .string("t\(generator.number(1...4))") : nil,
                    "appTransactionId": generator.oneIn(2)
                        ? .string("A\(generator.number(1...4))") : nil,
                ])
        }

        mutating func call() throws -> WriteCall {
            let person = generator.pick(people)
            switch generator.number(0...9) {
            case 0...3:
                return try fixture.notification(
                    generator.pick(["DID_RENEW", "REVOKE", "REFUND"]),
                    signed: Int64(generator.number(0...9)) * 1_000, transaction: try copy())
            case 4, 5:
                let account = "A\(generator.number(1...4))"
                return .transactions(
                    TransactionUpload(
                        customerID: generator.oneIn(3) ? "" : person,
                        signedTransactions: try (0...generator.number(0...1)).map { _ in
                            try copy()
                        },
                        signedAppTransaction: generator.oneIn(3)
                            ? try fixture.apple.appTransaction(
                                account, created: ServiceFixture.date(1)) : [],
                        isTransfer: generator.oneIn(3)))
            case 6, 7:
                return .link(
                    LinkRequest(
                        customerID: person, identity: identity(), scope: fixture.scope,
                        isTransfer: generator.oneIn(2)))
            case 8:
                return .link(
                    LinkRequest(
                        customerID: person, scope: fixture.scope,
                        householdID: "h\(generator.number(1...2))"))
            default:
                return sent.isEmpty ? try call() : generator.pick(sent)
            }
        }
    }

    @Test(arguments: UInt64(1)...30)
    func `every fact is one customer's, and what is stored is what is answered`(
        seed: UInt64
    ) throws {
        let fixture = try ServiceFixture()
        var world = World(fixture: fixture, generator: SeededGenerator(seed: seed))
        for round in 0..<12 {
            var group: [WriteCall] = []
            for _ in 0...world.generator.number(0...4) { group.append(try world.call()) }
            world.sent += group
            for case .failure(let refusal) in fixture.desk.performGroup(group) {
                #expect(refusal.reason == .identityConflict, "seed \(seed): \(refusal)")
            }
            try check(world, "seed \(seed), round \(round)")
        }
        let reopened = try ServiceFixture(store: fixture.store, isWarm: false)
        for person in world.people {
            for offset in stride(from: Int64(0), to: 10_000, by: 500) {
                #expect(
                    try reopened.check(person, at: offset)
                        == fixture.check(person, at: offset), "seed \(seed)")
            }
        }
    }

    private func check(_ world: World, _ context: Comment) throws {
        let fixture = world.fixture
        var holders: [String: Set<String>] = [:]
        var customers: Set<String> = []
        let names =
            world.people.map { CustomerReference.customer($0) }
            + world.chains.map { .originalTransaction($0) }
        for name in names {
            guard let view = try? fixture.view(name) else { continue }
            customers.insert(view.customerID)
            for transaction in view.transactions {
                holders[transaction.transaction.transactionID, default: []]
                    .insert(view.customerID)
            }
            for status in view.entitlements {
                let verdict = try fixture.desk.check(name, status.productID, in: fixture.scope)
                #expect(verdict.reason == status.reason, context)
                #expect(verdict.transactionID == status.transactionID, context)
            }
            let rebuild = WriteCall.rebuild(
                RebuildRequest(customer: name, isDryRun: true, scope: fixture.scope))
            guard case .success(.rebuild(let reply)) = fixture.desk.perform(rebuild) else {
                Issue.record("\(name) cannot be rebuilt, \(context)")
                continue
            }
            #expect(reply.changes == [], context)
        }
        #expect(holders.values.allSatisfy { $0.count == 1 }, "\(context): \(holders)")
        let check = try StoreCheck(
            fixture.store, onFinding: { Issue.record("\($0), \(context)") })
        check.run()
        #expect(check.findingCount == 0)
        let info = fixture.service.reader.serverInfo()
        #expect(info.transactionCount == UInt64(holders.count), context)
        #expect(info.customerCount == UInt64(customers.count), "\(context): \(customers)")
    }
}
