import Entitlements
import Testing

@Suite struct IdentifiersTests {
    @Test(arguments: [
        ("10", "9", true), ("9", "10", false), ("9", "9", false), ("2", "1", true),
        ("18446744073709551617", "18446744073709551616", true),
        ("504319184420155589", "504319184420155588", true), ("b", "a", true), ("a", "b", false),
        ("a", "9", true), ("", "1", false), ("1", "", true), ("10x", "9x", false),
    ])
    func `ids of digits are compared as numbers of any width`(
        left: String, right: String, isGreater: Bool
    ) {
        #expect(isGreaterTransactionID(left, than: right) == isGreater)
    }

    @Test func `identities of two kinds are never equal`() {
        let identities = IdentityKind.allCases.map { Identity($0, "1") }
        #expect(Set(identities).count == 5)
        #expect(identities.sorted().map(\.kind) == IdentityKind.allCases)
        #expect(Identity(.customer, "a") < Identity(.customer, "b"))
    }

    @Test func `only Production and Sandbox are environments`() {
        for name in ["Xcode", "LocalTesting", "production", "PROD", ""] {
            #expect(AppEnvironment(name: name) == nil)
        }
        for environment in AppEnvironment.allCases {
            #expect(AppEnvironment(name: environment.name) == environment)
        }
    }

    @Test func `a sum past the far ends stays there`() {
        #expect(Timestamp(milliseconds: .max).adding(milliseconds: 1) == .distantFuture)
        #expect(Timestamp(milliseconds: .min).adding(milliseconds: -1) == .distantPast)
        #expect(instant(5).adding(milliseconds: -7) == instant(-2))
    }
}
