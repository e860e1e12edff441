import Entitlements
import Service
import Storage
import Synchronization
import TestSupport
import Testing

@Suite struct ForgettingTests {
    @Test func `the mark is in the commit, and goes when the bytes are gone`() throws {
        let notices = Mutex<[ServiceNotice]>([])
        let fixture = try ServiceFixture { configuration in
            configuration.onNotice = { notice in notices.withLock { $0.append(notice) } }
        }
        try LedgerForgettingTests.makeMary(fixture)
        let number = try fixture.forget(.customer("mary-smith")).number
        let key = CustomerKey(scope: ScopeNumber(1), number: number)
        let mark = try #require(try fixture.store.value(for: Key.erasure(of: key), in: .meta))
        let ranges = try RecordCodec.decodeRanges(mark)
        #expect(Set(ranges.map(\.keyspace)).isSuperset(of: [.identities, .payloads, .audit]))
        #expect(try !fixture.forgotten(number).isErased)
        #expect(fixture.service.eraseForgotten())
        #expect(try fixture.store.value(for: Key.erasure(of: key), in: .meta) == nil)
        let after = try fixture.forgotten(number)
        #expect(after.isErased && after.number == number)
        #expect(
            notices.withLock(\.self) == [
                .forgotten(number: number, isErased: false),
                .forgotten(number: number, isErased: true),
            ])
        #expect(fixture.service.eraseForgotten())
    }

    @Test func `what a process did not come to, the next one does`() throws {
        let first = try ServiceFixture()
        try LedgerForgettingTests.makeMary(first)
        let number = try first.forget(.customer("mary-smith")).number
        let second = try ServiceFixture(store: first.store)
        #expect(try !second.forgotten(number).isErased)
        #expect(second.service.eraseForgotten())
        #expect(try second.forgotten(number).isErased)
        // The count came from the store: what comes in still names nobody.
        try second.notify(
            "DID_RENEW",
            transaction: try first.transaction(
                "12", original: "10", from: 9_000, to: 19_000,
                changes: LedgerForgettingTests.names))
        #expect(try second.traces(of: LedgerForgettingTests.texts) == [])
    }

    @Test func `a store that takes no writes keeps the mark`() throws {
        let fixture = try ServiceFixture()
        try LedgerForgettingTests.makeMary(fixture)
        let number = try fixture.forget(.customer("mary-smith")).number
        fixture.store.failCommits(next: 1)
        #expect(!fixture.service.eraseForgotten())
        #expect(try !fixture.forgotten(number).isErased)
        #expect(fixture.service.eraseForgotten())
        #expect(try fixture.forgotten(number).isErased)
    }

    @Test func `of a number that nobody forgotten has nothing is told`() throws {
        let fixture = try ServiceFixture()
        try LedgerForgettingTests.makeMary(fixture)
        for number: UInt64 in [1, 99] {
            let query = ForgottenQuery(number: number, scope: fixture.scope)
            #expect {
                _ = try fixture.service.read(.forgotten(query))
            } throws: {
                ($0 as? Refusal)?.reason == .unknownCustomer
            }
        }
    }
}
