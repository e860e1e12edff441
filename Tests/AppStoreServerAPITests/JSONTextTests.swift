import AppStore
@testable import AppStoreServerAPI
import Testing

@Suite struct JSONTextTests {
    @Test func `members stand in order, numbers digit for digit`() {
        let text = JSONText.object([
            ("b", .integer(.max)), ("a", .boolean(true)), ("c", .string("é")),
        ])
        #expect(
            String(decoding: text, as: UTF8.self) == #"{"b":9223372036854775807,"a":true,"c":"é"}"#
        )
        #expect(JSONText.object([]) == Array("{}".utf8))
    }

    @Test func `every character comes back from a strict reader`() throws {
        let all = String(String.UnicodeScalarView((0..<0x100).compactMap { Unicode.Scalar($0) }))
        let read = try JSONObject(JSONText.object([(all, .string(all))]))
        #expect(read.string(all) == all)
    }
}
