import Authorization
import Testing
import Wire

@testable import Session

@Suite struct AuditedCallTests {
    @Test func `a target names the app as it came`() {
        var get = Message.GetCustomerRequest()
        get.customer = .appTransactionID("70")
        #expect(AuditTarget(.getCustomer(get)).name == "app-transaction:70")
        #expect(AuditTarget(.getCustomer(get)).app.isEmpty)
        for (number, app) in [(0, "b"), (1, "b:Production"), (2, "b:Sandbox"), (9, "b:9")] {
            get.scope = Message.Scope(bundleID: "b", environment: .init(rawValue: Int32(number)))
            #expect(AuditTarget(.getCustomer(get)).app == app)
        }
    }

    @Test func `a household is a target, and checks have none`() {
        var family = Message.GetFamilyRequest()
        family.householdID = "smiths"
        #expect(AuditTarget(.getFamily(family)).name == "household:smiths")
        #expect(AuditTarget(.getServerInfo) == AuditTarget())
    }

    @Test func `two calls are two, whatever is in them`() {
        let entry = AuditEntry(
            at: 0, keyID: "", keyName: "", peer: "", method: "GetCustomer", requestID: 1)
        let one = AuditedCall(entry, isWrittenWhenGranted: true)
        #expect(one == one && one != AuditedCall(entry, isWrittenWhenGranted: true))
    }
}
