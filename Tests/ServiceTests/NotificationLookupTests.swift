import Entitlements
import Service
import Storage
import Testing

@Suite struct NotificationLookupTests {
    @Test func `a notification is stored once it is committed, in its own world`() throws {
        let fixture = try ServiceFixture()
        let call = try fixture.notification(
            "TEST", uuid: "u-1", signed: 1_000, transaction: nil)
        let event = try fixture.service.prepare(call)
        #expect(try !fixture.service.isStored(event))
        _ = fixture.service.commit([event])
        #expect(try fixture.service.isStored(event))
        #expect(try fixture.service.isStored(try fixture.service.prepare(call)))
    }

    @Test func `what an event would be stored as names the notification`() throws {
        let fixture = try ServiceFixture()
        let event = try fixture.service.prepare(
            try fixture.notification("TEST", uuid: "u-1", signed: 1_000, transaction: nil))
        let record = try #require(event.notificationRecord)
        #expect(record.notificationUUID == "u-1" && record.type == "TEST")
        #expect(record.signedDate.milliseconds == ServiceFixture.date(1_000))
        #expect(record.receivedAt == fixture.clock.now)
    }

    @Test func `an event of another kind is no notification`() throws {
        let fixture = try ServiceFixture()
        let event = try fixture.service.prepare(
            .link(LinkRequest(customerID: "a", scope: fixture.scope, householdID: "h")))
        #expect(try !fixture.service.isStored(event))
        #expect(event.notificationRecord == nil)
    }
}
