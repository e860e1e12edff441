import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct StoredMatchesTests {
    /// What an earlier release wrote under: the product before the dates.
    private func earlierKey(_ key: [UInt8]) -> [UInt8] {
        let product = Key.matchDatesByteCount
        let length = Int(key[product]) << 8 | Int(key[product + 1])
        let rest = product + 2 + length
        var earlier = Array(key[..<2])
        earlier += key[product..<rest]
        earlier += key[4..<product]
        return earlier + key[rest...]
    }

    private func matches(_ store: MemoryStore) throws -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        try store.scan(.matches, prefix: [], from: nil, reversed: false) { key, value in
            found[key] = value
            return true
        }
        return found
    }

    @Test func `records of an earlier release are put in order at the start, once`() throws {
        let fixture = try ServiceFixture()
        let store = fixture.store
        for number in 1...3 {
            try fixture.upload("customer-\(number)", try fixture.transaction("\(number)"))
        }
        let expected = try matches(store)
        try #require(!expected.isEmpty)
        var changes = ChangeSet()
        for (key, value) in expected {
            changes.delete(key, in: .matches)
            changes.put(value, for: earlierKey(key), in: .matches)
        }
        try store.commit(changes)
        try #require(try matches(store) != expected)
        for _ in 0..<2 {
            _ = try ServiceFixture(store: store)
            #expect(try matches(store) == expected)
        }
    }
}
