import FoundationEssentials
import Testing

@testable import entitled

@Suite struct VersionTests {
    @Test func `the version is one line`() {
        #expect(Version.text == "entitled \(Version.number)")
        #expect(!Version.text.contains("\n"))
    }

    @Test func `the JSON form decodes to the same version`() throws {
        struct Decoded: Decodable {
            let name: String
            let version: String
            let `protocol`: Int
            let swift: String
        }
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(Version.json.utf8))
        #expect(decoded.name == "entitled")
        #expect(decoded.version == Version.number)
        #expect(decoded.protocol == Version.protocolVersion)
        #expect(decoded.swift.hasPrefix("6."))
    }
}
