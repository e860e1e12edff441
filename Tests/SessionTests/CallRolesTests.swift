import Authorization
import Testing
import Wire

@testable import Session

@Suite struct CallRolesTests {
    /// By the contract, as it stands in the documentation; nil: everybody who is known.
    private func role(_ method: CallMethod) -> Roles? {
        if method.name.hasPrefix("CheckAccess") { return .check }
        if method.name.hasPrefix("Ingest") { return .ingest }
        return ["GetServerInfo", "other"].contains(method.name) ? nil : .admin
    }

    @Test(arguments: CallMethod.allCases)
    func `every call has its role`(method: CallMethod) {
        #expect(method.role == role(method))
    }

    @Test(arguments: CallMethod.allCases)
    func `every call is answered to whoever has its role, and to nobody else`(
        method: CallMethod
    ) throws {
        for bits in UInt8(0)..<16 {
            let roles = Roles(rawValue: bits)
            let guarded = try GuardedBench(otherApps: [])
            let key = guarded.add("k", roles)
            let reason = try guarded.ask(try guarded.request(1, key, method))
            let isAllowed =
                role(method).map { roles.contains(.admin) || roles.contains($0) } ?? true
            #expect((reason != "ROLE_MISSING") == isAllowed, "\(method) \(roles.names)")
            #expect(!reason.hasPrefix("KEY_"))
            #expect(try guarded.ask(try guarded.request(2, "", method)) == "KEY_MISSING")
            #expect(try guarded.ask(try guarded.request(3, "entk_k_x", method)) == "KEY_UNKNOWN")
            guarded.revoke("k")
            #expect(try guarded.ask(try guarded.request(4, key, method)) == "KEY_REVOKED")
        }
    }
}
