import Entitlements
import Testing

@Suite struct EvidenceTests {
    private func reason(
        _ evidence: Evidence, ownership: String = "FAMILY_SHARED", signed: Int64 = 100,
        revoked: Int64? = nil, at: Int64 = 500
    ) -> AccessReason {
        let x = Transaction.lifetime(ownership: ownership, signed: signed) {
            $0.revocationDate = revoked.map(instant)
        }
        return CustomerHistory(x, evidence: ["1": evidence]).reason(at: at)
    }

    private var revoke: Evidence {
        var evidence = Evidence()
        evidence.datelessRevoke = instant(150)
        return evidence
    }

    @Test(arguments: [(149, AccessReason.active), (150, .familyLeft)] as [(Int64, AccessReason)])
    func `a REVOKE without a date ends access from its signing on`(
        at: Int64, reason: AccessReason
    ) {
        #expect(self.reason(revoke, at: at) == reason)
    }

    @Test(arguments: ["PURCHASED", "ASSIGNED", "LENT", ""])
    func `only shared copies can be overridden`(ownership: String) {
        #expect(reason(revoke, ownership: ownership) == .active)
    }

    @Test func `a plain newer undated copy clears nothing`() {
        #expect(reason(revoke, signed: 400) == .familyLeft)
    }

    @Test(
        arguments: [(149, AccessReason.familyLeft), (150, .familyLeft), (151, .active)]
            as [(Int64, AccessReason)])
    func `a grant signed later clears it`(signed: Int64, reason: AccessReason) {
        var evidence = revoke
        evidence.grantNotification = instant(signed)
        #expect(self.reason(evidence) == reason)
    }

    @Test(
        arguments: [(149, AccessReason.familyLeft), (150, .familyLeft), (151, .active)]
            as [(Int64, AccessReason)])
    func `an active status signed later clears it`(signed: Int64, reason: AccessReason) {
        var evidence = revoke
        evidence.activeStatus = instant(signed)
        #expect(self.reason(evidence) == reason)
    }

    @Test(
        arguments: [
            (150, 400, AccessReason.familyLeft), (151, 400, .active), (151, 152, .active),
            (151, 151, .familyLeft), (300, 200, .familyLeft),
        ] as [(Int64, Int64, AccessReason)])
    func `a later dated copy followed by a newer undated one clears it`(
        dated: Int64, undated: Int64, reason: AccessReason
    ) {
        var evidence = revoke
        evidence.datedCopy = instant(dated)
        #expect(self.reason(evidence, signed: undated) == reason)
    }

    @Test func `a dated copy that still stands clears nothing`() {
        var evidence = revoke
        evidence.datedCopy = instant(200)
        #expect(reason(evidence, signed: 200, revoked: 200) == .familyRefunded)
    }

    @Test func `cleared means cleared at every instant`() {
        var evidence = revoke
        evidence.grantNotification = instant(300)
        #expect(reason(evidence, at: 160) == .active)
    }

    @Test func `a newer REVOKE after the grant overrides again`() {
        var evidence = revoke
        evidence.grantNotification = instant(300)
        var later = Evidence()
        later.datelessRevoke = instant(301)
        evidence.merge(later)
        #expect(reason(evidence, at: 301) == .familyLeft)
        #expect(reason(evidence, at: 300) == .active)
    }

    @Test func `merging keeps the newest of each, and is blind to order`() {
        var left = Evidence()
        left.datelessRevoke = instant(1)
        left.activeStatus = instant(9)
        var right = Evidence()
        right.datelessRevoke = instant(2)
        right.grantNotification = instant(3)
        right.datedCopy = instant(4)
        var merged = left
        merged.merge(right)
        var reversed = right
        reversed.merge(left)
        #expect(merged == reversed)
        #expect(merged.datelessRevoke == instant(2))
        #expect(merged.grantNotification == instant(3))
        #expect(merged.activeStatus == instant(9))
        #expect(merged.datedCopy == instant(4))
        #expect(merged.newestDate == instant(9))
        #expect(Evidence().newestDate == nil)
    }
}
