import Entitlements
import Testing

@Suite struct RevocationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var ownership: String
        var type: String?
        var reason: Int32?
        var isDated = true
        var isBuyerRefunded = false
        var expected: AccessReason
        var isReversed: Bool
        var isCertain = true

        var testDescription: String {
            "\(ownership) \(type ?? "-") \(reason.map { "\($0)" } ?? "-") dated \(isDated) "
                + "buyer \(isBuyerRefunded)"
        }
    }

    /// The table of causes, row by row, and what a row must not swallow.
    static let cases: [Case] = [
        Case(ownership: "PURCHASED", type: "REFUND_FULL", expected: .refunded, isReversed: true),
        Case(
            ownership: "PURCHASED", type: "REFUND_PRORATED", expected: .refunded, isReversed: true),
        Case(
            ownership: "FAMILY_SHARED", type: "REFUND_FULL", expected: .familyRefunded,
            isReversed: true),
        Case(
            ownership: "FAMILY_SHARED", type: "REFUND_PRORATED", reason: 0,
            expected: .familyRefunded, isReversed: true),
        Case(ownership: "ASSIGNED", type: "REFUND_FULL", expected: .refunded, isReversed: true),
        Case(ownership: "LENT", type: "REFUND_FULL", expected: .refunded, isReversed: true),
        Case(
            ownership: "FAMILY_SHARED", type: "FAMILY_REVOKE", expected: .familyLeft,
            isReversed: false),
        Case(
            ownership: "FAMILY_SHARED", type: "FAMILY_REVOKE", reason: 1, isBuyerRefunded: true,
            expected: .familyLeft, isReversed: false),
        Case(
            ownership: "PURCHASED", type: "FAMILY_REVOKE", expected: .familyLeft,
            isReversed: false),
        Case(
            ownership: "ASSIGNED", type: "ASSIGNMENT_REVOKE", expected: .assignmentEnded,
            isReversed: false),
        Case(ownership: "PURCHASED", expected: .refunded, isReversed: true),
        Case(ownership: "PURCHASED", reason: 0, expected: .refunded, isReversed: true),
        Case(ownership: "PURCHASED", type: "LATER", expected: .refunded, isReversed: true),
        Case(ownership: "FAMILY_SHARED", reason: 1, expected: .familyRefunded, isReversed: true),
        Case(
            ownership: "FAMILY_SHARED", reason: 0, isBuyerRefunded: true,
            expected: .familyRefunded, isReversed: true),
        Case(
            ownership: "FAMILY_SHARED", reason: 0, expected: .familyRefunded, isReversed: true,
            isCertain: false),
        Case(
            ownership: "FAMILY_SHARED", expected: .familyRefunded, isReversed: true,
            isCertain: false),
        Case(
            ownership: "FAMILY_SHARED", isDated: false, expected: .familyLeft, isReversed: false),
        Case(
            ownership: "FAMILY_SHARED", isDated: false, isBuyerRefunded: true,
            expected: .familyRefunded, isReversed: true),
        Case(ownership: "ASSIGNED", expected: .assignmentEnded, isReversed: false),
        Case(ownership: "ASSIGNED", reason: 1, expected: .assignmentEnded, isReversed: false),
        Case(
            ownership: "LENT", expected: .refunded, isReversed: false, isCertain: false),
        Case(ownership: "", expected: .refunded, isReversed: false, isCertain: false),
    ]

    @Test(arguments: cases)
    func `the first evidence that matches names the cause`(given: Case) {
        let x = Transaction.lifetime(ownership: given.ownership) {
            $0.revocationDate = given.isDated ? instant(150) : nil
            $0.revocationType = given.type
            $0.revocationReason = given.reason
        }
        let revocation = Revocation(of: x, isBuyerRefunded: given.isBuyerRefunded)
        #expect(revocation.reason == given.expected)
        #expect(revocation.isPaymentReversed == given.isReversed)
        #expect(revocation.isCertain == given.isCertain)
    }

    @Test(arguments: cases.filter(\.isDated))
    func `whatever the cause, access ends`(given: Case) {
        let x = Transaction.lifetime(ownership: given.ownership, signed: 160) {
            $0.revocationDate = instant(150)
            $0.revocationType = given.type
            $0.revocationReason = given.reason
        }
        #expect(CustomerHistory(x).decision(at: 149).isGranted)
        #expect(!CustomerHistory(x).decision(at: 150).isGranted)
    }

    @Test func `revocation fields without a date revoke nothing`() {
        let x = Transaction.lifetime {
            $0.revocationType = "REFUND_FULL"
            $0.revocationReason = 1
        }
        #expect(CustomerHistory(x).reason(at: 500) == .active)
        let copy = Transaction.lifetime("2", ownership: "FAMILY_SHARED")
        #expect(CustomerHistory(copy, household: [x]).reason(at: 500) == .active)
    }

    @Test func `the linked buyer's refund makes a member's cause certain`() {
        let copy = Transaction.lifetime("2", ownership: "FAMILY_SHARED", signed: 160) {
            $0.revocationDate = instant(155)
            $0.revocationReason = 0
        }
        let buyer = Transaction.lifetime("1", signed: 150) { $0.revocationDate = instant(150) }
        let alone = CustomerHistory(copy).grantsByProduct()["p"]?.first?.revocation
        let linked = CustomerHistory(copy, household: [buyer]).grantsByProduct()["p"]?.first
        #expect(alone?.isCertain == false)
        #expect(linked?.revocation?.isCertain == true)
        #expect(linked?.revocation?.reason == .familyRefunded)
    }
}
