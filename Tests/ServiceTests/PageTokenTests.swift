import Testing

@testable import Service

@Suite struct PageTokenTests {
    @Test(arguments: [0, 1, 15, 16, UInt64.max])
    func `a token comes back, for its own list alone`(number: UInt64) throws {
        let token = PageToken(.customers, number)
        #expect(try PageToken(token.text, of: .customers) == token)
        #expect(throws: Refusal.self) { try PageToken(token.text, of: .refreshes) }
    }

    @Test func `no token is the first page`() throws {
        #expect(try PageToken("", of: .refreshes).number == 0)
    }

    @Test(arguments: [
        "c", "c01", "cA", "c-1", "c+1", "c 1", "cg", "1", "C1", "c1 ", "c1\u{0}", "c\u{0661}",
        "c10000000000000000", "c\u{301}1", String(repeating: "c", count: 4_096),
    ])
    func `what no list gave out is refused`(text: String) {
        do throws(Refusal) {
            _ = try PageToken(text, of: .customers)
            Issue.record("taken")
        } catch {
            #expect(error.reason == .invalidField)
        }
    }
}
