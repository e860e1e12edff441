import Entitlements
import Reconciliation
import Service
import Testing

@testable import entitled

@Suite struct ReconciliationLogTests {
    private static let scope = Scope(bundleID: "com.example.meadow", environment: .sandbox)
    private static let noon = Timestamp(milliseconds: 1_772_323_200_000)
    private static let notices: [(ReconciliationNotice, LogLevel)] = [
        (.unauthorized(scope, message: "check the key"), .error),
        (.recovered(scope), .info),
        (.paused(scope, until: noon, message: "503"), .warn),
        (.gapClosed(scope, dates: noon..<noon, count: 3), .warn),
        (.gapTooOld(scope, dates: noon..<noon), .error),
        (.markAheadOfClock(scope, mark: noon), .warn),
        (.damagedItem(scope, Refusal(.badSignature, "why")), .warn),
        (.sweepFoundChange(scope, changes: []), .warn),
        (
            .fetchFailed(scope, customerID: "secret-name", Refusal(.appStoreIncomplete, "why")),
            .warn
        ),
    ]

    @Test(arguments: notices.indices)
    func `a notice is logged with its world, and without a customer's name`(index: Int) {
        let (notice, level) = Self.notices[index]
        let record = LogRecord(notice)
        #expect(record.level == level)
        #expect(record.message == notice.message)
        #expect(record.fields.contains(.init("app", "com.example.meadow")))
        #expect(record.fields.contains(.init("environment", "Sandbox")))
        #expect(!LogFormatter.json.line(for: record, at: 0).contains("secret-name"))
    }

    @Test func `a gap says from when to when`() {
        let record = LogRecord(
            .gapClosed(Self.scope, dates: Self.noon..<Self.noon, count: 3))
        #expect(record.fields.contains(.init("from", "2026-03-01T00:00:00.000Z")))
        #expect(record.fields.contains(.init("recovered", 3)))
    }

    @Test func `a store that fails is an error`() {
        let record = LogRecord(.storeFailed(Refusal(.storeUnavailable, "disk full")))
        #expect(record.level == .error)
        #expect(
            record.fields == [
                .init("reason", "STORE_UNAVAILABLE"), .init("detail", "disk full"),
            ])
    }
}
