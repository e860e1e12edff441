import Testing

@testable import Authorization

@Suite struct KeyLineTests {
    private func failure(_ line: String) -> String? {
        do throws(KeyLine.Failure) {
            _ = try KeyLine(line)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `members come in their order, with their kinds`() throws {
        let line = try KeyLine(
            #" {"a" : "x\"\\\/\n\t\r", "b":12, "c":[], "d":["p","q"],"e":true,"f":false} "# + "\r")
        #expect(line.members.map(\.name) == ["a", "b", "c", "d", "e", "f"])
        #expect(
            line.members.map(\.value) == [
                .text("x\"\\/\n\t\r"), .number(12), .texts([]), .texts(["p", "q"]), .flag(true),
                .flag(false),
            ])
        #expect(try KeyLine("{}").members.isEmpty)
    }

    @Test(arguments: [
        "", "{", "}", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}}", "{\"a\":1} # x",
        "{\"a\":01}", "{\"a\":-1}", "{\"a\":1.5}", "{\"a\":1e3}", "{\"a\":99999999999999999999}",
        "{\"a\":null}", "{\"a\":{}}", "{\"a\":[1]}", "{\"a\":[\"x\",]}", "{\"a\":\"x}",
        "{\"a\":\"\u{1}\"}", "{\"a\":\"\\u0041\"}", "{\"a\":\"\\", "{\"a\":tru}", "{a:1}",
        "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"a\":2}",
    ])
    func `whatever else is refused`(line: String) { #expect(failure(line) != nil) }

    @Test func `two spellings of one accent are two names`() throws {
        #expect(try KeyLine("{\"\u{E9}\":1,\"e\u{301}\":2}").members.count == 2)
    }

    @Test func `what is written can be read`() throws {
        let text = "a\"b\\c\n\r\t\u{E9}\u{1F600}"
        #expect(try KeyLine("{\"a\":\(KeyLine.quoted(text))}").members[0].value == .text(text))
        #expect(KeyLine.quoted("\u{1}\u{7F}\u{2028}") == #""\u0001\u007f\u2028""#)
    }
}
