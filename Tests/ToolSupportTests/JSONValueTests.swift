import Testing

@testable import ToolSupport

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            (.null, "null"), (.boolean(true), "true"), (.integer(-5), "-5"),
            (.natural(.max), "18446744073709551615"), (.number(0), "0"), (.number(1.5), "1.5"),
            (.number(-0.25), "-0.25"), (.number(2.0 / 3), "0.666667"), (.number(1e9), "1000000000"),
            (.number(.nan), "null"), (.number(.infinity), "null"), (.number(0.000_000_1), "0"),
            (.string("a\"\\\n\u{1B}"), "\"a\\\"\\\\\\n\\u001b\""),
            (.array([.integer(1), .null]), "[1,null]"),
            (.object([("b", .integer(1)), ("a", .integer(2))]), "{\"b\":1,\"a\":2}"),
        ] as [(JSONValue, String)])
    func `every value has its text`(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test func `what there is none of is null`() {
        #expect(JSONValue.optional("") == .null)
        #expect(JSONValue.optional("x") == .string("x"))
        #expect(JSONValue.instant(nil) == .null)
        #expect(JSONValue.instant(0) == .string("1970-01-01T00:00:00.000Z"))
    }
}
