import Entitlements
import Testing

@testable import Service

@Suite struct CommitCountsTests {
    private let scope = Scope(bundleID: "com.example.meadow", environment: .production)

    private func notification(
        _ type: String, signed: Int64 = 1_000, received: Int64 = 4_000
    ) -> Event {
        let notification = Notification(
            notificationUUID: "u", type: type, subtype: "",
            signedDate: Timestamp(milliseconds: signed), scope: scope)
        return Event(
            receivedAt: Timestamp(milliseconds: received),
            content: .notification(notification, payload: []))
    }

    private func reply(
        _ disposition: Disposition, _ changes: [EntitlementChange] = []
    ) -> WriteReply {
        .notification(
            NotificationReply(
                notificationUUID: "u", type: "", subtype: "", disposition: disposition,
                changes: changes, revision: 1))
    }

    private func change(
        _ customer: String, _ reason: AccessReason, from: Bool = true, to: Bool = false
    ) -> EntitlementChange {
        EntitlementChange(
            customerID: customer, productID: "p", wasGranted: from, isGranted: to, reason: reason)
    }

    @Test func `a notification is counted by world, type and what came of it`() {
        let tally = CommitTally()
        tally.count(
            [notification("REFUND"), notification("REFUND"), notification("REVOKE")],
            [
                .success(reply(.applied)), .success(reply(.duplicate)),
                .failure(Refusal(.storeUnavailable, "why")),
            ], at: Timestamp(milliseconds: 4_500))
        let counts = tally.value
        #expect(counts.notifications.values.reduce(0, +) == 2)
        #expect(
            counts.notifications[
                .init(scope: scope, type: "REFUND", disposition: .duplicate)] == 1)
        #expect(counts.refusedNotifications == [.storeUnavailable: 1])
        #expect(counts.apps[scope.bundleID]?.durations.sum == 1)
        #expect(counts.apps[scope.bundleID]?.ages.sum == 6)
    }

    @Test func `a clock behind Apple's counts as no time`() {
        var counts = CommitCounts()
        counts.count(
            notification("TEST", signed: 9_000), reply(.noEffect), at: Timestamp(milliseconds: 0))
        #expect(counts.apps[scope.bundleID]?.ages.sum == 0)
        #expect(counts.apps[scope.bundleID]?.durations.counts.first == 1)
    }

    @Test func `people suspended by one event are one cut`() {
        var counts = CommitCounts()
        let changes = [
            change("buyer", .refunded), change("a", .familySuspended),
            change("b", .familySuspended), change("b", .familySuspended),
            change("c", .familySuspended, from: false), change("d", .active, from: false, to: true),
        ]
        counts.count(
            notification("REFUND"), reply(.applied, changes), at: Timestamp(milliseconds: 4_500))
        let app = counts.apps[scope.bundleID]
        #expect(app?.endings == [.refunded: 1, .familySuspended: 3])
        #expect(app?.cutMembers.count == 1 && app?.cutMembers.sum == 2)
        #expect(counts.cutDurations.count == 1 && counts.cutDurations.sum == 0.5)
        counts.count(notification("TEST"), reply(.noEffect), at: Timestamp(milliseconds: 9_000))
        #expect(counts.cutDurations.count == 1)
    }

    @Test func `types beyond the limit are not told apart`() {
        var counts = CommitCounts()
        for index in 0...CommitCounts.kindCountMax {
            counts.count(
                notification("T\(index)"), reply(.storedUnknown),
                at: Timestamp(milliseconds: 4_000))
        }
        #expect(counts.notifications.count == CommitCounts.kindCountMax + 1)
        #expect(
            counts.notifications[.init(scope: scope, type: "", disposition: .storedUnknown)] == 1)
    }

    @Test func `only notifications are counted as refused notifications`() {
        let tally = CommitTally()
        tally.countRefused(.notification(payload: []), .badSignature)
        tally.countRefused(
            .transactions(
                .init(
                    customerID: "", signedTransactions: [], signedRenewals: [],
                    signedAppTransaction: [], isTransfer: false)), .badSignature)
        #expect(tally.value.refusedNotifications == [.badSignature: 1])
    }
}
