import Entitlements
import Session
import Testing
import Wire

@testable import Service
@testable import Storage

/// Every field of the service's answers has a value of its own: none may come out as another.
@Suite struct ReplyMappingListsTests {
    private func result(
        of call: Request.Call, _ reply: ReadReply
    ) throws -> Response.Result? {
        let bench = try SessionBench()
        bench.read = { (_) throws(Refusal) in reply }
        return try bench.ask(Request(id: 1, call: call)).result
    }

    private func result(of call: Request.Call, _ reply: RemoteReply) throws -> Response.Result? {
        let bench = try SessionBench(isAppStoreConfigured: true)
        bench.remote = { (_) throws(Refusal) in reply }
        return try bench.ask(Request(id: 1, call: call)).result
    }

    private static func copy(_ number: Int, _ reason: AccessReason) -> FamilyCopyView {
        FamilyCopyView(
            customerID: "c\(number)", transactionID: "t\(number)",
            originalTransactionID: "o\(number)", productID: "p\(number)", ownership: .familyShared,
            reason: reason, revokedAt: Int64(number))
    }

    private static func isCopy(_ copy: Message.FamilyCopy?, _ number: Int, _ granted: Bool) -> Bool
    {
        copy?.customerID == Text("c\(number)") && copy?.transactionID == Text("t\(number)")
            && copy?.originalTransactionID == Text("o\(number)")
            && copy?.productID == Text("p\(number)") && copy?.ownership == .familyShared
            && copy?.granted == granted && copy?.revokedAtMilliseconds == Int64(number)
    }

    @Test func `customers are named by the name to ask with`() throws {
        let names: [CustomerReference] = [
            .customer("a"), .appAccountToken("b"), .appTransaction("c"), .originalTransaction("d"),
        ]
        let page = CustomerPage(
            customers: names.map {
                CustomerSummary(customer: $0, transactionCount: 3, revision: 4)
            }, nextPageToken: "n", customerCount: 5, revision: 6)
        let result = try result(of: .listCustomers(.init()), .customers(page))
        guard case .listCustomers(let message) = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(
            message.customers.map(\.customer) == [
                .customerID("a"), .appAccountToken("b"), .appTransactionID("c"),
                .originalTransactionID("d"),
            ])
        #expect(message.customers.allSatisfy { $0.transactions == 3 && $0.revision == 4 })
        #expect(message.nextPageToken == "n" && message.customersTotal == 5)
        #expect(message.revision == 6)
    }

    @Test func `a family comes with its members, likely families and warnings`() throws {
        let view = FamilyView(
            householdID: "h",
            members: [
                FamilyMemberView(customerID: "m", copies: [Self.copy(1, .active)])
            ],
            matched: [
                MatchedFamilyView(
                    productID: "p", purchaseDate: 7, expiresDate: 8, confidence: .strong,
                    copies: [Self.copy(2, .familyRefunded)], note: "n")
            ], warnings: ["MORE_THAN_SIX_PEOPLE"], revision: 9)
        var request = Message.GetFamilyRequest()
        request.householdID = "h"
        let result = try result(of: .getFamily(request), .family(view))
        guard case .getFamily(let message) = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(message.householdID == "h" && message.warnings == ["MORE_THAN_SIX_PEOPLE"])
        #expect(message.revision == 9)
        #expect(message.members.map(\.customerID) == ["m"])
        #expect(Self.isCopy(message.members.first?.copies.first, 1, true))
        let matched = try #require(message.matched.first)
        #expect(matched.productID == "p" && matched.note == "n" && matched.confidence == .strong)
        #expect(matched.purchaseDateMilliseconds == 7 && matched.expiresDateMilliseconds == 8)
        #expect(Self.isCopy(matched.copies.first, 2, false))
        #expect(matched.copies.first?.reason == .familyRefunded)
    }

    @Test func `a finding of the audit names both transactions`() throws {
        let page = AuditPage(
            findings: [
                AccessFinding(
                    copy: Self.copy(1, .active), purchase: Self.copy(2, .refunded),
                    confidence: .declared, grantedUntil: 3, refreshedAt: 4, isRefreshQueued: true,
                    explanation: "e")
            ], nextPageToken: "n", revision: 5)
        let result = try result(of: .auditAccess(.init()), .audit(page))
        guard case .auditAccess(let message) = result, let finding = message.findings.first else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(Self.isCopy(finding.copy, 1, true) && Self.isCopy(finding.purchase, 2, false))
        #expect(finding.confidence == .declared && finding.refreshQueued)
        #expect(finding.grantedUntilMilliseconds == 3 && finding.refreshedAtMilliseconds == 4)
        #expect(finding.explanation == "e" && message.nextPageToken == "n")
        #expect(message.revision == 5)
    }
}

extension ReplyMappingListsTests {
    @Test func `a queue tells its jobs, its marks and its last failure`() throws {
        var job = RefreshJob(
            trigger: .familyRefund, queuedAt: Timestamp(milliseconds: 1), revision: 2)
        job.notBefore = Timestamp(milliseconds: 3)
        job.attempts = 4
        job.lastReason = "R"
        job.lastMessage = "M"
        let queued = QueuedRefresh(
            key: CustomerKey(scope: ScopeNumber(1), number: 1), customerID: "c", job: job)
        let view = ReconciliationView(
            isAppStoreConfigured: true, queuedCount: 5, refreshes: [queued], nextPageToken: "n",
            notificationsCompleteUntil: 6, sweepFinishedAt: 7, succeededCount: 8, failedCount: 9,
            lastFailure: RefreshFailure(
                at: Timestamp(milliseconds: 10), refusal: Refusal(.appStoreThrottled, "slow")))
        let result = try result(of: .getReconciliation(.init()), .reconciliation(view))
        guard case .getReconciliation(let message) = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        var expected = Message.QueuedRefresh()
        expected.customerID = "c"
        expected.trigger = "FAMILY_REFUND"
        expected.queuedAtMilliseconds = 1
        expected.notBeforeMilliseconds = 3
        expected.attempts = 4
        expected.lastReason = "R"
        expected.lastMessage = "M"
        #expect(message.refreshes == [expected])
        #expect(message.appStoreAPIConfigured && message.queued == 5)
        #expect(message.nextPageToken == "n")
        #expect(message.notificationsCompleteUntilMilliseconds == 6)
        #expect(message.sweepFinishedAtMilliseconds == 7)
        #expect(message.refreshesSucceeded == 8 && message.refreshesFailed == 9)
        #expect(message.lastFailureAtMilliseconds == 10 && message.lastFailureMessage == "slow")
        #expect(message.lastFailureReason == "APP_STORE_THROTTLED")
    }

    @Test func `what Apple was asked comes back with what was not believed`() throws {
        let record = NotificationRecord(
            notificationUUID: "u", type: "REVOKE", subtype: "s",
            signedDate: Timestamp(milliseconds: 1), receivedAt: Timestamp(milliseconds: 2),
            disposition: .applied, transactionID: "t", revision: 3)
        let backfill = BackfillReply(
            notificationCount: 20, recovered: [record], changes: [],
            problems: [Refusal(.badSignature, "item 3")], nextPageToken: "n", revision: 4)
        let result = try result(of: .backfillNotifications(.init()), .backfill(backfill))
        guard case .backfillNotifications(let message) = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(message.notificationsRead == 20 && message.revision == 4)
        #expect(message.nextPageToken == "n")
        #expect(message.recovered.map(\.notificationUUID) == ["u"])
        #expect(message.problems.map(\.reason) == ["BAD_SIGNATURE"])
        #expect(message.problems.map(\.message) == ["item 3"])
        let test = try self.result(
            of: .testNotification(.init()),
            .testNotification(
                TestNotificationReply(
                    token: "k",
                    attempts: [.init(at: Timestamp(milliseconds: 9), result: "TIMED_OUT")],
                    isReceived: true)))
        guard case .testNotification(let answer) = test else {
            Issue.record("\(String(describing: test))")
            return
        }
        #expect(answer.token == "k" && answer.received)
        #expect(answer.attempts.map(\.result) == ["TIMED_OUT"])
        #expect(answer.attempts.map(\.atMilliseconds) == [9])
    }

    @Test(arguments: [false, true])
    func `a refund shows a payment only where the purchase is known`(isUnknown: Bool) throws {
        let use = PersonUse(
            customerID: "m", transactionID: "t", originalTransactionID: "o",
            ownership: .familyShared, confidence: .likely, days: 1, checks: 2, units: 3,
            costMicros: 4, leakedDays: 5, leakedChecks: 6, leakedUnits: 7, leakedCostMicros: 8,
            leakedPeriods: 9, accessEndedAt: 10)
        var transaction = Transaction(
            transactionID: "1", originalTransactionID: "2", productID: "p",
            rawType: "Auto-Renewable Subscription", rawOwnership: "PURCHASED",
            purchaseDate: Timestamp(milliseconds: 11), signedDate: Timestamp(milliseconds: 1))
        transaction.price = 9_990
        transaction.currency = "EUR"
        let view = RefundView(
            transaction: transaction, customerID: "c", refundedAt: 12, learnedAt: 13,
            percentage: 50_000, refundedMilliunits: 4_995, people: [use],
            isPurchaseUnknown: isUnknown)
        let page = RefundPage(refunds: [view], nextPageToken: "n", revision: 14)
        let result = try result(of: .listRefunds(.init()), .refunds(page))
        guard case .listRefunds(let message) = result, let refund = message.refunds.first,
            let person = refund.people.first
        else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(refund.transactionID == "1" && refund.originalTransactionID == "2")
        #expect(refund.customerID == "c" && refund.productID == "p")
        #expect(refund.purchaseDateMilliseconds == 11 && refund.refundedAtMilliseconds == 12)
        #expect(refund.learnedAtMilliseconds == 13 && refund.purchaseUnknown == isUnknown)
        #expect(refund.priceMilliunits == (isUnknown ? 0 : 9_990))
        #expect(refund.refundedMilliunits == (isUnknown ? 0 : 4_995))
        #expect(refund.percentageMilliunits == (isUnknown ? 0 : 50_000))
        #expect(refund.currency == (isUnknown ? "" : "EUR"))
        #expect(person.customerID == "m" && person.transactionID == "t")
        #expect(person.originalTransactionID == "o" && person.ownership == .familyShared)
        #expect(person.confidence == .likely && person.days == 1 && person.checks == 2)
        #expect(person.units == 3 && person.costMicros == 4 && person.leakedDays == 5)
        #expect(person.leakedChecks == 6 && person.leakedUnits == 7)
        #expect(person.leakedCostMicros == 8 && person.leakedPeriods == 9)
        #expect(person.accessEndedAtMilliseconds == 10)
        #expect(message.nextPageToken == "n" && message.revision == 14)
    }
}
