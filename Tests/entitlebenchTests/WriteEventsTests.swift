import Entitlements
import Service
import Storage
import TestSupport
import Testing

@testable import entitlebench

@Suite struct WriteEventsTests {
    private let plan = SeedPlan(customerCount: 60)
    private let events: WriteEvents
    private let fixture: SeedFixture

    init() throws {
        events = WriteEvents(plan: plan)
        fixture = try SeedFixture()
    }

    private func notification(_ event: Int) throws -> WriteCall {
        let transaction = events.transaction(event)
        return .notification(
            payload: try fixture.signer.body(
                events.notification(event), transaction, events.renewal(with: transaction)))
    }

    @Test(arguments: [60, 7_919, 2 * 7_919, 7_927, 10_000])
    func `as many events as there are customers reach each of them once`(customerCount: Int) {
        let events = WriteEvents(plan: SeedPlan(customerCount: customerCount))
        let reached = Set((0..<customerCount).map { events.customer(of: $0) })
        #expect(reached.count == customerCount)
        #expect(events.round(of: customerCount - 1) == 0)
        #expect(events.round(of: customerCount) == 1)
    }

    @Test func `no two events share a name or a transaction`() {
        let names = Set((0..<180).map { events.uuid($0) })
        let ids = Set((0..<180).map { events.transaction($0).transactionID })
        #expect(names.count == 180)
        #expect(ids.count == 180)
        #expect(names.allSatisfy { $0.utf8.count == 36 })
    }

    /// Whatever a customer was, from his first event on he has access by it; by the newest one
    /// after the second.
    @Test func `a server says what is expected, event by event`() throws {
        let desk = try fixture.desk(MemoryStore())
        let scope = try #require(
            desk.scopeIndex(
                Scope(bundleID: fixture.signer.app.bundleID, environment: .production)))
        for index in 0..<60 { _ = try desk.perform(fixture.upload(of: index, in: plan)).get() }
        for event in 0..<120 {
            guard case .notification(let reply) = try desk.perform(notification(event)).get() else {
                Issue.record("no notification")
                return
            }
            #expect(reply.disposition == .applied)
            #expect(reply.notificationUUID == events.uuid(event))
            let index = events.customer(of: event)
            let count = events.round(of: event) + 1
            let expected = events.expectation(of: index, afterRounds: count)
            let verdict = try desk.check(
                .customer(plan.name(of: index)), expected.productID, in: scope)
            #expect(verdict.reason == expected.reason)
            #expect(verdict.ownership == expected.ownership)
            #expect(verdict.transactionID == expected.transactionID)
            #expect(verdict.originalTransactionID == expected.originalTransactionID)
            #expect(verdict.validUntil == expected.validUntil)
            #expect(events.roundCount(of: index, naming: verdict.transactionID) == count)
        }
    }

    @Test func `an answer tells how many events it knew`() {
        let seeded = plan.expectation(of: 7).transactionID
        #expect(events.roundCount(of: 7, naming: seeded) == 0)
        #expect(events.roundCount(of: 7, naming: events.transactionID(of: 7, round: 3)) == 4)
        #expect(events.roundCount(of: 7, naming: events.transactionID(of: 8, round: 0)) == nil)
        #expect(events.roundCount(of: 7, naming: "") == nil)
        #expect(events.expectation(of: 7, afterRounds: 0) == plan.expectation(of: 7))
    }

    @Test func `an event of a heavy customer is none of the numbered ones`() {
        let plan = SeedPlan(customerCount: 6, heavyCustomerCount: 1, heavyTransactionCount: 50)
        let events = WriteEvents(plan: plan)
        let (notification, transaction) = events.heavyEvent(of: 6, round: 2)
        #expect(transaction.transactionID == events.transactionID(of: 6, round: 2))
        #expect(transaction.productID == SeedPlan.heavyProduct)
        #expect(transaction.signedDate < SeedFixture.now)
        #expect(!(0..<1_000).contains { events.uuid($0) == notification.uuid })
        #expect(notification.uuid.utf8.count == 36)
    }
}
