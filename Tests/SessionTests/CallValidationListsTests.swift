import Entitlements
import Service
import Session
import Testing
import Wire

@Suite struct CallValidationListsTests {
    /// The call that a request becomes; nil where it is refused.
    private func call(
        _ request: Request.Call, isAppStoreConfigured: Bool = true
    ) throws -> (call: SessionCall?, answer: Response?) {
        let bench = try SessionBench(isAppStoreConfigured: isAppStoreConfigured)
        try bench.send(Request(id: 1, call: request))
        return (bench.taken.first?.call, try bench.answers().first)
    }

    private func reason(
        _ request: Request.Call, isAppStoreConfigured: Bool = true
    ) throws -> Text? {
        try call(request, isAppStoreConfigured: isAppStoreConfigured).answer?.reason
    }

    private func pages(
        _ size: UInt32, _ token: Text = "", _ scope: Message.Scope? = nil
    ) -> [Request.Call] {
        var customers = Message.ListCustomersRequest()
        var refunds = Message.ListRefundsRequest()
        var audit = Message.AuditAccessRequest()
        var queue = Message.GetReconciliationRequest()
        (customers.pageSize, customers.pageToken, customers.scope) = (size, token, scope)
        (refunds.pageSize, refunds.pageToken, refunds.scope) = (size, token, scope)
        (audit.pageSize, audit.pageToken, audit.scope) = (size, token, scope)
        (queue.pageSize, queue.pageToken, queue.scope) = (size, token, scope)
        return [
            .listCustomers(customers), .listRefunds(refunds), .auditAccess(audit),
            .getReconciliation(queue),
        ]
    }

    private func query(_ call: SessionCall?) -> PageQuery? {
        guard case .read(let read) = call else { return nil }
        switch read {
        case .customers(let query, changedSince: _), .audit(let query), .reconciliation(let query):
            return query
        case .refunds(let query): return query.page
        case .customer, .family, .backup, .forgotten: return nil
        }
    }

    @Test(arguments: [(0, 100), (1, 1), (1_000, 1_000)] as [(UInt32, Int)])
    func `a page has a hundred entries where nothing is said, and a thousand at most`(
        size: UInt32, countMax: Int
    ) throws {
        for request in pages(size, "t") {
            let query = try #require(query(try call(request).call))
            #expect(query.countMax == countMax && query.pageToken == "t")
        }
        for request in pages(1_001) { #expect(try reason(request) == "INVALID_FIELD") }
        for request in pages(.max) { #expect(try reason(request) == "INVALID_FIELD") }
    }

    @Test func `a page token is text of at most 4 KiB`() throws {
        let longest = Text(Array(repeating: 0x74, count: 4_096))
        for request in pages(0, longest) {
            #expect(query(try call(request).call)?.pageToken.utf8.count == 4_096)
        }
        for token in [Text(longest.bytes + [0x74]), Text([0xFF])] {
            for request in pages(0, token) { #expect(try reason(request) == "INVALID_FIELD") }
            var test = Message.TestNotificationRequest()
            test.token = token
            #expect(try reason(.testNotification(test)) == "INVALID_FIELD")
            var backfill = Message.BackfillNotificationsRequest()
            backfill.pageToken = token
            #expect(try reason(.backfillNotifications(backfill)) == "INVALID_FIELD")
        }
    }

    @Test func `every list asks for the scope that it names`() throws {
        let other = Message.Scope(bundleID: "com.example.other")
        var family = Message.GetFamilyRequest()
        (family.householdID, family.scope) = ("h", other)
        var test = Message.TestNotificationRequest()
        test.scope = other
        var backfill = Message.BackfillNotificationsRequest()
        backfill.scope = other
        for request in pages(0, "", other) + [
            .getFamily(family), .testNotification(test), .backfillNotifications(backfill),
        ] {
            #expect(try reason(request) == "UNKNOWN_SCOPE")
        }
    }

    @Test func `a family is asked for by a customer or by a household, not both`() throws {
        var family = Message.GetFamilyRequest()
        #expect(try reason(.getFamily(family)) == "INVALID_FIELD")
        family.customer = .appAccountToken("ABC")
        guard case .read(.family(let query)) = try call(.getFamily(family)).call else {
            Issue.record("no read")
            return
        }
        #expect(query.customer == .appAccountToken("abc") && query.householdID.isEmpty)
        family.householdID = "h"
        #expect(try reason(.getFamily(family)) == "INVALID_FIELD")
        family.customer = nil
        guard case .read(.family(let byHousehold)) = try call(.getFamily(family)).call else {
            Issue.record("no read")
            return
        }
        #expect(byHousehold.customer == nil && byHousehold.householdID == "h")
        family.householdID = Text(Array(repeating: 0x68, count: 129))
        #expect(try reason(.getFamily(family)) == "INVALID_IDENTIFIER")
    }

    @Test func `refunds are asked for by instants that are none before 1970`() throws {
        var refunds = Message.ListRefundsRequest()
        guard case .read(.refunds(let all)) = try call(.listRefunds(refunds)).call else {
            Issue.record("no read")
            return
        }
        #expect(all.from == .distantPast && all.to == .distantFuture && all.productID.isEmpty)
        (refunds.fromMilliseconds, refunds.toMilliseconds, refunds.productID) = (5, 6, "p")
        guard case .read(.refunds(let some)) = try call(.listRefunds(refunds)).call else {
            Issue.record("no read")
            return
        }
        #expect(some.from.milliseconds == 5 && some.to.milliseconds == 6 && some.productID == "p")
        for (from, to) in [(6, 6), (7, 6), (-1, 6), (0, -1), (Int64.min, 0)] as [(Int64, Int64)] {
            (refunds.fromMilliseconds, refunds.toMilliseconds) = (from, to)
            #expect(try reason(.listRefunds(refunds)) == "INVALID_FIELD", "\(from)..<\(to)")
        }
        (refunds.fromMilliseconds, refunds.toMilliseconds) = (0, 0)
        refunds.productID = Text([0x70, 0xFF])
        #expect(try reason(.listRefunds(refunds)) == "INVALID_IDENTIFIER")
    }

    @Test func `a backfill runs to now where no end is said`() throws {
        var backfill = Message.BackfillNotificationsRequest()
        backfill.fromMilliseconds = SessionBench.now - 1
        backfill.onlyFailures = true
        guard case .remote(.backfill(let request)) = try call(.backfillNotifications(backfill)).call
        else {
            Issue.record("no remote call")
            return
        }
        #expect(request.from.milliseconds == SessionBench.now - 1)
        #expect(request.to.milliseconds == SessionBench.now)
        #expect(request.isOnlyFailures && !request.isDryRun && request.pageToken.isEmpty)
        for (from, to) in [(SessionBench.now, 0), (5, 5), (-1, 5), (1, -5)] as [(Int64, Int64)] {
            (backfill.fromMilliseconds, backfill.toMilliseconds) = (from, to)
            let reason = try reason(.backfillNotifications(backfill))
            #expect(reason == "INVALID_FIELD", "\(from)..<\(to)")
        }
    }
}

extension CallValidationListsTests {
    @Test(
        arguments: [
            (Message.Source.unspecified, true, true), (.appStore, true, true),
            (.storedFacts, true, false), (.unspecified, false, false), (.appStore, false, false),
        ] as [(Message.Source, Bool, Bool)])
    func `a rebuild asks Apple where that can be done and nobody says otherwise`(
        source: Message.Source, isConfigured: Bool, isRemote: Bool
    ) throws {
        for isDryRun in [false, true] {
            var rebuild = Message.RebuildCustomerRequest()
            rebuild.customer = .customerID("a")
            rebuild.source = source
            rebuild.dryRun = isDryRun
            let call = try call(.rebuildCustomer(rebuild), isAppStoreConfigured: isConfigured).call
            switch call {
            case .remote(.rebuild(let request)):
                #expect(isRemote && request.isDryRun == isDryRun)
            case .write(.rebuild(let request)):
                #expect(!isRemote && request.isDryRun == isDryRun)
            default:
                Issue.record("no rebuild")
            }
        }
    }

    @Test func `where Apple cannot be asked the call is refused at once`() throws {
        for call in [.testNotification(.init()), .backfillNotifications(.init())]
            as [Request.Call]
        {
            let bench = try SessionBench()
            try bench.send(Request(id: 1, call: call))
            let answer = try #require(try bench.answers().first)
            #expect(answer.reason == "APP_STORE_NOT_CONFIGURED")
            #expect(answer.status == .failedPrecondition)
            #expect(bench.taken.isEmpty && bench.isIdle)
        }
    }

    @Test func `calls to Apple run beside each other and lists one after the other`() throws {
        let bench = try SessionBench(isAppStoreConfigured: true)
        for id in 1...2 {
            try bench.send(Request(id: UInt64(id), call: .testNotification(.init())))
            try bench.send(Request(id: UInt64(10 + id), call: .auditAccess(.init())))
        }
        #expect(bench.taken.map(\.tag.requestID) == [1, 11, 2])
    }

    @Test func `the server says whether Apple can be asked`() throws {
        for isConfigured in [false, true] {
            let bench = try SessionBench(isAppStoreConfigured: isConfigured)
            let answer = try bench.ask(Request(id: 1, call: .getServerInfo))
            guard case .getServerInfo(let info) = answer.result else {
                Issue.record("\(answer)")
                return
            }
            #expect(info.appStoreAPIConfigured == isConfigured)
        }
    }
}
