import Testing

@testable import Session

@Suite struct CallMethodTests {
    @Test func `methods are named as in the service's definition, each once`() {
        let names = CallMethod.allCases.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.first == "CheckAccess" && names.last == "other")
        #expect(CallMethod.allCases.map { Int($0.rawValue) } == Array(names.indices))
    }

    @Test func `no call is another`() { #expect(CallMethod(nil) == .other) }
}
