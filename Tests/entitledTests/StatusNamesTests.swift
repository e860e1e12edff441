import Service
import Testing

@testable import entitled

@Suite struct StatusNamesTests {
    @Test func `there are the seventeen codes of gRPC, each with its name`() {
        #expect(StatusCode.allCases.map { Int($0.rawValue) } == Array(0...16))
        let names = StatusCode.allCases.map(\.name)
        #expect(Set(names).count == 17)
        #expect(names.first == "OK" && names.last == "UNAUTHENTICATED")
    }
}
