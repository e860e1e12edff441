import Testing

@testable import Authorization

@Suite struct RolesTests {
    @Test func `names and roles are each other's inverse`() {
        for (name, role) in Roles.names {
            #expect(Roles(name: name) == role)
            #expect(role.names == [name])
        }
        #expect(Set(Roles.names.map(\.role.rawValue)).count == Roles.names.count)
    }

    @Test(arguments: [
        "", "Check", "check ", "admin\u{0}", "chec", "checks", "ADMIN", "adm\u{131}n",
    ])
    func `nothing else is a role`(name: String) { #expect(Roles(name: name) == nil) }

    @Test func `admin may what all others may, and nobody else may what he has not`() {
        let all: [Roles] = [.check, .ingest, .admin, .metrics]
        for asked in all {
            #expect(Roles.admin.allow(asked))
            #expect(!Roles().allow(asked))
            for held in all where held != .admin {
                #expect(held.allow(asked) == (held == asked))
            }
        }
        #expect(Roles([.check, .ingest]).allow(.ingest))
        #expect(!Roles([.check, .ingest, .metrics]).allow(.admin))
    }
}
