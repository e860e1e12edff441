import Entitlements
import Testing

@testable import Service

struct CountersTests {
    @Test func `refusals are counted by reason, notifications by disposition`() {
        let counters = Counters()
        #expect(counters.refusalCounts.isEmpty)
        counters.count(RefusalReason.badSignature)
        counters.count(RefusalReason.badSignature)
        counters.count(RefusalReason.draining)
        #expect(counters.refusalCounts == [.badSignature: 2, .draining: 1])
        counters.count(Disposition.stale.rawValue)
        #expect(counters.dispositionCounts == [0, 0, 0, 1, 0, 0])
    }
}
