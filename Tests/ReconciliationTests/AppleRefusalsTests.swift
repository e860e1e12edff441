import AppStore
import AppStoreServerAPI
import Entitlements
import Service
import Testing

@testable import Reconciliation

@Suite struct AppleRefusalsTests {
    @Test(arguments: [
        (
            AppStoreServerError.throttled(until: Bench.start.adding(milliseconds: 2_500)),
            RefusalReason.appStoreThrottled, UInt64(2_500)
        ),
        (.throttled(until: .distantPast), .appStoreThrottled, 1),
        (
            .unavailable(message: "down", retryAt: Bench.start.adding(milliseconds: 9)),
            .appStoreIncomplete, 9
        ),
        (.malformed("<html>"), .appStoreIncomplete, 60_000),
        (.unauthorized("look at the key"), .appStoreUnauthorized, 0),
        (.notFound(code: 4_040_010, message: "unknown"), .appStoreIncomplete, 3_600_000),
        (.notFound(code: 4_040_008, message: "no test"), .invalidField, 0),
        (.rejected(code: 4_000_012, message: "too old"), .invalidField, 0),
        (.rejected(code: 4_000_000, message: "no"), .appStoreIncomplete, 3_600_000),
    ])
    func `an error of Apple's is told with what to do about it`(
        error: AppStoreServerError, reason: RefusalReason, retryAfter: UInt64
    ) {
        let refusal = Refusal(error, at: Bench.start)
        #expect(refusal.reason == reason)
        #expect(refusal.retryAfterMilliseconds == retryAfter)
        #expect(!refusal.message.isEmpty)
    }

    @Test func `an item that is not believed keeps its reason and its place`() {
        let refusal = Refusal(
            AppleHistory.Problem(error: .badSignature("forged"), place: "page 2, item 3"))
        #expect(refusal.reason == .badSignature)
        #expect(refusal.message == "page 2, item 3: forged")
    }

    @Test(arguments: RefusalReason.allCases)
    func `only the server's own state passes`(reason: RefusalReason) {
        let passing: Set<RefusalReason> = [.draining, .storeUnavailable, .overloaded, .deadline]
        #expect(Refusal(reason, "").isPassing == passing.contains(reason))
    }
}
