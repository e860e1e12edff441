@testable import HTTP
import Testing

@Suite struct FieldRulesTests {
    @Test func `a name is a word`() {
        #expect(FieldRules.isSound(name: "X-Under_score.1!"))
        for name in ["", "A B", "A:", "Content-Length ", "é", "A\r", "A\0", "(A)"] {
            #expect(!FieldRules.isSound(name: name), "\(name)")
        }
    }

    @Test func `a value has no control character but the tab`() {
        #expect(FieldRules.isSound(value: ""))
        #expect(FieldRules.isSound(value: "a\tb é"))
        for value in ["\r\nX: y", "a\nb", "\0", "\u{7F}", "\u{1B}[0m"] {
            #expect(!FieldRules.isSound(value: value))
        }
    }

    @Test func `a request names its host once, in HTTP 1.0 at most once`() {
        let host = HTTPField("host", "a")
        #expect(FieldRules.areSound([host], version: "HTTP/1.1"))
        #expect(!FieldRules.areSound([], version: "HTTP/1.1"))
        #expect(!FieldRules.areSound([host, HTTPField("Host", "a")], version: "HTTP/1.1"))
        #expect(FieldRules.areSound([], version: "HTTP/1.0"))
        #expect(!FieldRules.areSound([host, host], version: "HTTP/1.0"))
        #expect(!FieldRules.areSound([host, HTTPField("A B", "")], version: "HTTP/1.1"))
    }
}
