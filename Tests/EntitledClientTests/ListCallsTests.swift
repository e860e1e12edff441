import EventLoop
import Testing
import Wire

@testable import EntitledClient

/// Every call for a list: what is sent, and what is made of the answer.
@Suite(.timeLimit(.minutes(1))) struct ListCallsTests {
    private static let scope = Scope(bundleID: "b", environment: .sandbox)
    private static let wireScope = Message.Scope(bundleID: "b", environment: .sandbox)

    private static func copy(_ number: Int) -> Message.FamilyCopy {
        var copy = Message.FamilyCopy()
        copy.customerID = Text("c\(number)")
        copy.transactionID = Text("t\(number)")
        copy.originalTransactionID = Text("o\(number)")
        copy.productID = Text("p\(number)")
        copy.ownership = .familyShared
        copy.granted = true
        copy.reason = .gracePeriod
        copy.revokedAtMilliseconds = Int64(number)
        return copy
    }

    private static func value(_ number: Int) -> FamilyCopy {
        FamilyCopy(
            customerID: "c\(number)", transactionID: "t\(number)",
            originalTransactionID: "o\(number)", productID: "p\(number)", ownership: .familyShared,
            isGranted: true, reason: .gracePeriod,
            revokedAtMilliseconds: number == 0 ? nil : Int64(number))
    }

    @Test func `a customer is named as the server names him, or not at all`() async throws {
        var known = Message.CustomerSummary()
        known.customer = .originalTransactionID("o")
        known.transactions = 3
        known.revision = 4
        var response = Message.ListCustomersResponse()
        response.customers = [known, .init()]
        response.nextPageToken = "n"
        response.customersTotal = 9
        response.revision = 10
        let request = try await FakeServer.sent(answering: .listCustomers(response)) { client in
            let page = try await client.listCustomers(
                changedSince: 5, pageToken: "t", pageSize: 6, scope: Self.scope)
            #expect(
                page.entries == [
                    CustomerSummary(
                        customer: .originalTransaction("o"), transactionCount: 3, revision: 4),
                    CustomerSummary(customer: nil, transactionCount: 0, revision: 0),
                ])
            #expect(page.nextPageToken == "n" && page.total == 9 && page.revision == 10)
        }
        var expected = Message.ListCustomersRequest()
        expected.scope = Self.wireScope
        expected.pageToken = "t"
        expected.pageSize = 6
        expected.changedSinceRevision = 5
        #expect(request.call == .listCustomers(expected))
    }

    @Test func `a family is asked for by customer or household`() async throws {
        var member = Message.FamilyMember()
        member.customerID = "m"
        member.copies = [Self.copy(1)]
        var matched = Message.MatchedFamily()
        matched.productID = "p"
        matched.purchaseDateMilliseconds = 2
        matched.expiresDateMilliseconds = 3
        matched.confidence = .init(rawValue: 77)
        matched.copies = [Self.copy(4)]
        matched.note = "n"
        var response = Message.GetFamilyResponse()
        response.householdID = "h"
        response.members = [member]
        response.matched = [matched]
        response.warnings = ["MORE_THAN_SIX_PEOPLE"]
        response.revision = 5
        var expected = Message.GetFamilyRequest()
        expected.customer = .customerID("u")
        expected.scope = Self.wireScope
        let byCustomer = try await FakeServer.sent(answering: .getFamily(response)) { client in
            let family = try await client.family(of: .customer("u"), scope: Self.scope)
            #expect(family.householdID == "h" && family.revision == 5)
            #expect(family.members == [FamilyMember(customerID: "m", copies: [Self.value(1)])])
            #expect(
                family.matched == [
                    MatchedFamily(
                        productID: "p", purchaseDateMilliseconds: 2, expiresDateMilliseconds: 3,
                        confidence: FamilyConfidence(rawValue: 77), copies: [Self.value(4)],
                        note: "n")
                ])
            #expect(family.matched.first?.confidence.name == "77")
            #expect(family.warnings == ["MORE_THAN_SIX_PEOPLE"])
        }
        #expect(byCustomer.call == .getFamily(expected))
        expected.customer = nil
        expected.householdID = "h"
        expected.scope = nil
        let byHousehold = try await FakeServer.sent(answering: .getFamily(.init())) { client in
            let family = try await client.family(household: "h")
            #expect(family.householdID == nil)
        }
        #expect(byHousehold.call == .getFamily(expected))
    }

    @Test func `a finding comes with both transactions`() async throws {
        var finding = Message.AccessFinding()
        finding.copy = Self.copy(1)
        finding.purchase = Self.copy(0)
        finding.confidence = .declared
        finding.refreshedAtMilliseconds = 3
        finding.refreshQueued = true
        finding.explanation = "e"
        var response = Message.AuditAccessResponse()
        response.findings = [finding]
        response.nextPageToken = "n"
        let request = try await FakeServer.sent(answering: .auditAccess(response)) { client in
            let page = try await client.auditAccess(pageToken: "t", pageSize: 1)
            #expect(
                page.entries == [
                    AccessFinding(
                        copy: Self.value(1), purchase: Self.value(0), confidence: .declared,
                        grantedUntilMilliseconds: nil, refreshedAtMilliseconds: 3,
                        isRefreshQueued: true, explanation: "e")
                ])
            #expect(page.nextPageToken == "n" && page.total == nil)
        }
        var expected = Message.AuditAccessRequest()
        expected.pageToken = "t"
        expected.pageSize = 1
        #expect(request.call == .auditAccess(expected))
    }

    @Test func `a refund comes with everybody who was served on it`() async throws {
        var person = Message.PersonUse()
        person.customerID = "m"
        person.transactionID = "t"
        person.originalTransactionID = "o"
        person.ownership = .familyShared
        person.confidence = .strong
        (person.days, person.checks, person.units, person.costMicros) = (1, 2, 3, 4)
        (person.leakedDays, person.leakedChecks, person.leakedUnits) = (5, 6, 7)
        (person.leakedCostMicros, person.leakedPeriods) = (8, 9)
        person.accessEndedAtMilliseconds = 10
        var refund = Message.RefundRecord()
        refund.transactionID = "1"
        refund.originalTransactionID = "2"
        refund.productID = "p"
        refund.customerID = "c"
        (refund.purchaseDateMilliseconds, refund.refundedAtMilliseconds) = (11, 12)
        (refund.learnedAtMilliseconds, refund.priceMilliunits) = (13, 14)
        refund.currency = "EUR"
        (refund.percentageMilliunits, refund.refundedMilliunits) = (15, 16)
        refund.people = [person]
        refund.purchaseUnknown = true
        var response = Message.ListRefundsResponse()
        response.refunds = [refund]
        let request = try await FakeServer.sent(answering: .listRefunds(response)) { client in
            let page = try await client.listRefunds(
                RefundFilter(fromMilliseconds: 1, toMilliseconds: 2, productID: "p"))
            let use = PersonUse(
                customerID: "m", transactionID: "t", originalTransactionID: "o",
                ownership: .familyShared, confidence: .strong, dayCount: 1, checkCount: 2,
                units: 3, costMicros: 4, leakedDayCount: 5, leakedCheckCount: 6, leakedUnits: 7,
                leakedCostMicros: 8, leakedPeriodCount: 9, accessEndedAtMilliseconds: 10)
            #expect(
                page.entries == [
                    RefundRecord(
                        transactionID: "1", originalTransactionID: "2", productID: "p",
                        customerID: "c", purchaseDateMilliseconds: 11, refundedAtMilliseconds: 12,
                        learnedAtMilliseconds: 13, priceMilliunits: 14, currency: "EUR",
                        percentageMilliunits: 15, refundedMilliunits: 16, people: [use],
                        isPurchaseUnknown: true)
                ])
        }
        var expected = Message.ListRefundsRequest()
        (expected.fromMilliseconds, expected.toMilliseconds, expected.productID) = (1, 2, "p")
        #expect(request.call == .listRefunds(expected))
    }
}
