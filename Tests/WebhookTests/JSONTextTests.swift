@testable import Webhook
import Testing

@Suite struct JSONTextTests {
    @Test(arguments: [
        ("plain é ☂", "\"plain é ☂\""), ("a\"b\\c", "\"a\\\"b\\\\c\""),
        ("\n\r\t", "\"\\n\\r\\t\""), ("\0\u{1B}\u{7F}", "\"\\u0000\\u001b\\u007f\""), ("", "\"\""),
    ])
    func `a text is quoted as RFC 8259 has it`(text: String, quoted: String) {
        #expect(JSONText.quoted(text).utf8.elementsEqual(quoted.utf8))
    }

    @Test func `an object keeps its order`() {
        let bytes = JSONText.object(["b": "1", "a": "2"])
        #expect(bytes == Array("{\"b\":\"1\",\"a\":\"2\"}\n".utf8))
    }
}
