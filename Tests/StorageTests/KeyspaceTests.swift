import Entitlements
import Storage
import Testing

@Suite struct KeyspaceTests {
    let scope = ScopeNumber(1)
    let other = ScopeNumber(256)

    @Test func `every key is distinct`() {
        let ids = ["", "1", "12", "2", "u", "r", "t", "\u{0}", "é"]
        var keys: [Keyspace: [[UInt8]]] = [:]
        for scope in [ScopeNumber(0), scope, ScopeNumber(2), other, ScopeNumber(.max)] {
            for id in ids {
                for kind in IdentityKind.allCases {
                    keys[.identities, default: []].append(
                        Key.identity(Identity(kind, id), in: scope))
                }
                keys[.payloads, default: []].append(Key.payload(.transaction(id), in: scope))
                keys[.payloads, default: []].append(Key.payload(.renewal(id), in: scope))
                keys[.notifications, default: []].append(Key.notification(uuid: id, in: scope))
            }
            for number: UInt64 in [0, 1, 256, .max] {
                let customer = CustomerKey(scope: scope, number: number)
                keys[.customers, default: []].append(Key.customer(customer))
                keys[.notifications, default: []].append(
                    Key.notification(revision: number, in: scope))
                keys[.payloads, default: []].append(
                    Key.payload(.notification(revision: number), in: scope))
                for id in ids {
                    keys[.customers, default: []].append(
                        Key.link(customer, Identity(.originalTransaction, id)))
                    keys[.customers, default: []].append(
                        Key.link(customer, Identity(.appTransaction, id)))
                    keys[.transactions, default: []].append(Key.of(customer, id))
                    keys[.households, default: []].append(Key.member(number, of: id, in: scope))
                }
                for revision: UInt64 in [0, 1, .max] {
                    keys[.history, default: []].append(Key.history(customer, revision: revision))
                }
            }
        }
        for (keyspace, all) in keys {
            #expect(Set(all).count == all.count, "\(keyspace)")
        }
    }

    @Test func `the fixed names of meta and the numbers of scopes are distinct`() {
        let names = [Key.format, Key.revision, Key.nextCustomer, Key.counts, Key.nextScope]
        let scopes = ["", "a", "com.example.meadow"].flatMap { bundleID in
            AppEnvironment.allCases.map {
                Key.scope(Scope(bundleID: bundleID, environment: $0))
            }
        }
        #expect(Set(names + scopes).count == names.count + scopes.count)
    }

    @Test func `a customer's records stand under his key and under nobody else's`() {
        let ann = CustomerKey(scope: scope, number: 1)
        let bob = CustomerKey(scope: scope, number: 0x0131)
        #expect(Key.customer(ann).count == Key.customerByteCount)
        for key in [
            Key.of(ann, "1"), Key.link(ann, Identity(.customer, "x")),
            Key.history(ann, revision: 1),
        ] {
            #expect(key.starts(with: Key.customer(ann)))
            #expect(!key.starts(with: Key.customer(bob)))
            #expect(key.starts(with: Key.scopePrefix(scope)))
            #expect(!key.starts(with: Key.scopePrefix(other)))
            #expect(key.count > Key.customerByteCount)
        }
    }

    @Test func `a household's members stand under its name, not under a longer one's`() {
        let short = Key.household("h", in: scope)
        #expect(Key.member(1, of: "h", in: scope).starts(with: short))
        #expect(!Key.member(1, of: "hh", in: scope).starts(with: short))
        #expect(!Key.member(1, of: "", in: scope).starts(with: short))
    }

    @Test func `revisions sort as numbers`() {
        let ann = CustomerKey(scope: scope, number: 1)
        let revisions: [UInt64] = [0, 1, 255, 256, 65_536, .max]
        let history = revisions.map { Key.history(ann, revision: $0) }
        let audit = revisions.map { Key.audit(revision: $0, index: 3) }
        for keys in [history, audit] {
            for (left, right) in zip(keys, keys.dropFirst()) {
                #expect(left.lexicographicallyPrecedes(right))
            }
        }
        #expect(
            Key.audit(revision: 1, index: 9).lexicographicallyPrecedes(
                Key.audit(revision: 1, index: 10)))
    }

    @Test(arguments: [0, 1, 0x0102_0304_0506_0708, UInt64.max])
    func `the number that a key ends in is read back`(number: UInt64) {
        let scope = ScopeNumber(7)
        #expect(Key.trailingNumber(of: Key.member(number, of: "h", in: scope)) == number)
        let customer = CustomerKey(scope: scope, number: 9)
        #expect(Key.trailingNumber(of: Key.history(customer, revision: number)) == number)
    }
}
