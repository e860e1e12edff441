import Entitlements
import Storage
import Testing

@Suite struct ErasureTests {
    private let scope = ScopeNumber(1)
    private let customer = CustomerKey(scope: ScopeNumber(1), number: 7)

    @Test func `a mark says whose it is, and its ranges come back`() throws {
        let ranges = [
            KeyRange(.payloads, key: [1, 2]), KeyRange(.audit, from: [], to: [3]),
            KeyRange(.customers, prefix: Key.customer(customer)),
        ]
        let bytes = RecordCodec.encode(ranges)
        #expect(try RecordCodec.decodeRanges(bytes) == ranges)
        for count in 1..<bytes.count {
            #expect(
                (try? RecordCodec.decodeRanges(Array(bytes.prefix(count)))) != ranges, "\(count)")
        }
        let key = Key.erasure(of: customer)
        #expect(Key.customer(ofErasure: key) == customer)
        #expect(Key.customer(ofErasure: Array(key.dropLast())) == nil)
        #expect(Key.customer(ofErasure: Key.revision) == nil)
    }

    @Test func `a range without names includes the one with them, and has none`() {
        let name = Identity(.appAccountToken, "token-of-ann")
        let named = [
            KeyRange(.identities, key: Key.identity(name, in: scope)),
            KeyRange(.customers, key: Key.link(customer, name)),
            KeyRange(.snapshots, key: Key.snapshot(of: customer, named: "token-of-ann")),
            KeyRange(
                .households, key: Key.member(7, of: "token-of-ann", in: scope)),
        ]
        for range in named {
            let wide = range.withoutNames
            #expect(!String(decoding: wide.first + wide.last, as: UTF8.self).contains("ann"))
            #expect(!range.first.lexicographicallyPrecedes(wide.first), "\(range.keyspace)")
            #expect(!wide.last.lexicographicallyPrecedes(range.last), "\(range.keyspace)")
        }
        let plain = [
            KeyRange(.snapshots, key: Key.customer(customer)),
            KeyRange(.payloads, key: Key.payload(.transaction("1"), in: scope)),
        ]
        #expect(plain.map(\.withoutNames) == plain)
    }
}
