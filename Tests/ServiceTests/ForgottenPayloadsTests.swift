import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct ForgottenPayloadsTests {
    @Test func `what others' facts rest on in his notification is kept by itself`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("mary-smith", try fixture.transaction("20", to: 9_000))
        let renewal = try fixture.renewal("20", signed: 2_000)
        try fixture.notify("DID_CHANGE_RENEWAL_STATUS", signed: 2_000, renewal: renewal)
        // The chain moves, and the notification that names no transaction stays in her history.
        try fixture.link("bob", .originalTransaction("20"), transfer: true)
        try fixture.forget(.customer("mary-smith"))
        let stored = try fixture.store.value(
            for: Key.payload(.renewal("20"), in: ScopeNumber(1)), in: .payloads)
        #expect(stored == renewal)
        #expect(try fixture.checkFindings() == [])
        // The same renewal info again is no news.
        let again = try fixture.notify(
            "DID_CHANGE_RENEWAL_STATUS", signed: 2_000, renewal: renewal)
        #expect(again.disposition == .stale)
    }

    @Test func `bytes that are lost are still found, those that were removed are not`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("10", to: 9_000))
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("20", to: 9_000))
        try fixture.forget(.originalTransaction("10"))
        #expect(try fixture.checkFindings() == [])
        // An empty payload is no excuse for a fact that was not forgotten.
        var changes = ChangeSet()
        changes.put(
            [], for: Key.payload(.notification(revision: 2), in: ScopeNumber(1)), in: .payloads)
        try fixture.store.commit(changes)
        #expect(try fixture.checkFindings().map(\.keyspace) == [.payloads])
        // Nor may the record of the one that was removed be missing.
        changes.delete(
            Key.payload(.notification(revision: 1), in: ScopeNumber(1)), in: .payloads)
        try fixture.store.commit(changes)
        #expect(try fixture.checkFindings().count == 2)
    }
}
