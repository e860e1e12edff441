import Entitlements
import Service
import SnapshotTable
import Storage
import TestSupport
import Testing

@Suite struct EntitlementServiceTests {
    private func index(
        _ fixture: ServiceFixture, _ bundleID: String, _ environment: Int32
    ) -> ScopeIndex? {
        let bytes = Array(bundleID.utf8)
        return fixture.service.reader.scopeIndex(bundleID: bytes.span, environment: environment)
    }

    @Test func `only what is configured is a scope`() throws {
        let fixture = try ServiceFixture()
        let production = index(fixture, "com.example.meadow", 1)
        #expect(production != nil)
        #expect(index(fixture, "com.example.meadow", 0) == production)
        #expect(index(fixture, "", 0) == production)
        #expect(index(fixture, "", 2) != nil)
        #expect(index(fixture, "", 2) != production)
        for environment: Int32 in [-1, 3, 99, .max, .min] {
            #expect(index(fixture, "com.example.meadow", environment) == nil)
        }
        for bundleID in ["com.example.other", "com.example.meado", "com.example.meadow\u{0}"] {
            #expect(index(fixture, bundleID, 1) == nil)
        }
        let only = try ServiceFixture(environments: [.production])
        #expect(index(only, "", 2) == nil)
    }

    @Test func `with two apps the empty bundle id names none`() throws {
        let fixture = try makeTwoApps()
        #expect(index(fixture, "", 0) == nil)
        #expect(index(fixture, "com.example.other", 1) != nil)
        #expect(fixture.service.reader.serverInfo().scopes.count == 3)
    }

    private func makeTwoApps() throws -> ServiceFixture {
        try ServiceFixture { configuration in
            configuration.apps.append(
                AppConfiguration(
                    bundleID: "com.example.other", appAppleID: 1_600_000_002,
                    environments: [.production]))
        }
    }

    /// Three worlds, the same ids in each: nothing of one is seen in another.
    @Test func `apps and environments are separate worlds`() throws {
        let fixture = try makeTwoApps()
        var sandbox = fixture.apple
        sandbox.environment = "Sandbox"
        var other = fixture.apple
        other.bundleID = "com.example.other"
        other.appAppleID = 1_600_000_002
        let worlds = [fixture.apple, sandbox, other]
        let scopes = [
            index(fixture, "com.example.meadow", 1), index(fixture, "com.example.meadow", 2),
            index(fixture, "com.example.other", 1),
        ].compactMap(\.self)
        #expect(scopes.count == 3)
        for (number, world) in worlds.enumerated() {
            for scope in scopes[number...] {
                let verdict = try fixture.desk.check(.customer("ann"), "p", in: scope)
                #expect(verdict.reason == .unknownCustomer)
            }
            let copy = try world.transaction(
                "1", product: "p", purchased: ServiceFixture.date(1_000),
                revoked: number == 1 ? ServiceFixture.date(2_000) : nil)
            _ = try fixture.desk.perform(
                .transactions(TransactionUpload(customerID: "ann", signedTransactions: [copy]))
            ).get()
            let notification = try world.notification(
                "TEST", uuid: "the-same", signed: ServiceFixture.date(1),
                data: world.notificationData())
            let reply = try fixture.desk.perform(.notification(payload: notification)).get()
            guard case .notification(let answer) = reply else { throw UnexpectedReply() }
            #expect(answer.disposition == .noEffect)
        }
        let reasons = try scopes.map {
            try fixture.desk.check(
                .customer("ann"), "p", at: ServiceFixture.date(5_000), in: $0
            ).reason
        }
        #expect(reasons == [.active, .refunded, .active])
        #expect(fixture.service.reader.serverInfo().customerCount == 3)
        // A household of one world has no members in another.
        try fixture.link("ann", household: "h", in: scopes[0])
        #expect(
            try fixture.service.customer(
                CustomerQuery(customer: .customer("ann"), scope: scopes[2])
            ).householdID.isEmpty)
    }

    @Test func `a payload of another app is refused, however well signed`() throws {
        let fixture = try ServiceFixture()
        var other = fixture.apple
        other.bundleID = "com.example.other"
        let copy = try other.transaction("1", product: "p", purchased: ServiceFixture.date(1))
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedTransactions: [copy]))
        #expect(fixture.refusal(call) == .wrongApp)
        var wrongNumber = fixture.apple
        wrongNumber.appAppleID = 7
        let notification = try wrongNumber.notification(
            "TEST", uuid: "u", signed: ServiceFixture.date(1), data: wrongNumber.notificationData())
        #expect(fixture.refusal(.notification(payload: notification)) == .wrongApp)
    }

    @Test func `a store that is opened again gives the same answers and goes on counting`() throws {
        let first = try ServiceFixture()
        try first.upload("ann", try first.transaction("1", to: 9_000))
        try first.link("mary", .originalTransaction("2"), household: "h")
        try first.link("ann", household: "h")
        try first.upload("", try first.transaction("2", to: 9_000, shared: true))
        try first.notify(
            "REFUND", uuid: "u", transaction: try first.transaction("1", to: 9_000, revoked: 4_000))
        let again = try ServiceFixture(store: first.store)
        #expect(again.service.revision == first.service.revision)
        #expect(again.service.reader.table.isComplete)
        for name in ["ann", "mary", "bob"] {
            for offset: Int64 in [500, 3_000, 5_000, 9_000] {
                #expect(try again.check(name, at: offset) == first.check(name, at: offset))
            }
        }
        #expect(
            try again.notify("REFUND", uuid: "u").disposition == .duplicate)
        let next = try again.notify(
            "REFUND_REVERSED", transaction: try again.transaction("1", to: 9_000, signed: 6_000))
        #expect(next.revision == first.service.revision + 1)
        #expect(Set(next.changes.map(\.customerID)) == ["ann", "mary"])
        let info = again.service.reader.serverInfo()
        #expect(info.customerCount == 2)
        #expect(info.transactionCount == 2)
    }

    @Test func `a service without an app, a root or a production number does not start`() throws {
        #expect(throws: ServiceStartError.self) { try ServiceFixture { $0.apps = [] } }
        // The answer to a missing setting is no server, never one that thanks and forgets.
        #expect(throws: ServiceStartError.self) { try ServiceFixture { $0.roots = [] } }
        #expect(throws: ServiceStartError.self) {
            try ServiceFixture { $0.apps[0].appAppleID = nil }
        }
        #expect(throws: ServiceStartError.self) {
            try ServiceFixture { $0.apps.append($0.apps[0]) }
        }
    }
}
