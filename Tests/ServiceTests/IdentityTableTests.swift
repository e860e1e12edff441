import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct IdentityTableTests {
    private let scope = ScopeNumber(1)

    private func identity(_ number: Int, _ kind: IdentityKind = .transaction) -> Identity {
        Identity(kind, "\(number)")
    }

    private func record(_ number: Int) -> IdentityRecord {
        IdentityRecord(primary: UInt64(number), holders: [UInt64(number)])
    }

    @Test func `records are found, however many were asked for since`() {
        var table = IdentityTable()
        for number in 1...40 { table.load(record(number), of: identity(number), in: scope) }
        for number in (1...40) + [40, 3, 3, 17] {
            let found = table.record(of: identity(number), in: scope)
            #expect(found == record(number))
        }
        let none = table.record(of: identity(41), in: scope)
        #expect(none == nil)
    }

    @Test func `another kind and another world are other names`() {
        var table = IdentityTable()
        table.load(record(1), of: identity(1), in: scope)
        var found = [
            table.record(of: identity(1, .originalTransaction), in: scope),
            table.record(of: identity(1), in: ScopeNumber(2)),
        ]
        #expect(found == [nil, nil])
        table.load(record(2), of: identity(1), in: ScopeNumber(2))
        found = [
            table.record(of: identity(1), in: scope),
            table.record(of: identity(1), in: ScopeNumber(2)),
        ]
        #expect(found == [record(1), record(2)])
    }

    @Test func `only what was changed is written, and what nobody has is removed`() {
        var table = IdentityTable()
        table.load(record(1), of: identity(1), in: scope)
        table.load(record(2), of: identity(2), in: scope)
        table.load(record(3), of: identity(3), in: scope)
        let areOthers = [
            table.set(record(1), of: identity(1), in: scope),
            table.set(record(7), of: identity(2), in: scope),
            table.set(IdentityRecord(), of: identity(3), in: scope),
            table.set(record(4), of: identity(4), in: scope),
        ]
        #expect(areOthers == [false, true, true, true])
        let found = table.record(of: identity(2), in: scope)
        #expect(found == record(7))
        var changes = ChangeSet()
        table.write(into: &changes)
        func change(_ number: Int) -> ChangeSet.Change? {
            changes.change(for: Key.identity(identity(number), in: scope), in: .identities)
        }
        #expect(change(1) == nil)
        #expect(change(2) == .put(RecordCodec.encode(record(7))))
        #expect(change(3) == .delete)
        #expect(change(4) == .put(RecordCodec.encode(record(4))))
    }
}
