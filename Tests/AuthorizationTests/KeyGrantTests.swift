import Testing

@testable import Authorization

@Suite struct KeyGrantTests {
    @Test func `a grant ends at its instant, not a millisecond later`() {
        var grant = KeyGrant(fault: .none, roles: [.check])
        #expect(grant.fault(at: .max - 1) == .none)
        grant.expires = 1_000
        #expect(grant.fault(at: 999) == .none)
        #expect(grant.fault(at: 1_000) == .expired)
    }

    @Test func `what is refused stays refused for its own reason`() {
        for fault in [KeyGrant.Fault.missing, .unknown, .revoked] {
            var grant = KeyGrant.refused(fault)
            grant.expires = 0
            #expect(grant.fault(at: 5) == fault)
            #expect(grant.roles.isEmpty)
        }
    }

    @Test func `everything is what admin may, everywhere`() {
        #expect(KeyGrant.everything.roles.allow(.metrics))
        #expect(!KeyGrant.everything.isLimited)
    }
}
