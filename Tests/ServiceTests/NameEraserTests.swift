import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct NameEraserTests {
    private let eraser = NameEraser(
        number: 7, name: "1", names: [Identity(.appAccountToken, "tok")])

    private func entry(_ customer: String, _ detail: String, _ action: String = "LINKED")
        -> AuditRecord
    {
        AuditRecord(at: .distantPast, action: action, customer: customer, detail: detail)
    }

    @Test(
        arguments: [
            ("claimed by 1, bob", "claimed by #7, bob"), ("claimed by 1", "claimed by #7"),
            ("chain 11 is claimed by bob, 1", "chain 11 is claimed by bob, #7"),
            ("app_account_token:tok", "app_account_token:#7"),
            ("what was known of tok; transactions: 10", "what was known of #7; transactions: 10"),
            ("tokens, toktok and 101", "tokens, toktok and 101"), ("1", "#7"), ("", ""),
        ])
    func `a name goes where it stands alone`(detail: String, expected: String) {
        #expect(eraser.erased(entry("bob", detail), isOfHis: true) == entry("bob", expected))
    }

    @Test func `his entries name him by number, and no household`() {
        #expect(
            eraser.erased(entry("1", "original_transaction_id:1000"), isOfHis: true)
                == entry("#7", "original_transaction_id:1000"))
        #expect(
            eraser.erased(entry("1", "home-1", "HOUSEHOLD_JOINED"), isOfHis: true)
                == entry("#7", "forgotten", "HOUSEHOLD_JOINED"))
        #expect(
            eraser.erased(entry("bob", "home-1", "HOUSEHOLD_JOINED"), isOfHis: true)
                == entry("bob", "home-1", "HOUSEHOLD_JOINED"))
    }

    @Test func `in another world his name is another's, a token is not`() {
        let other = entry("1", "claimed by 1, tok")
        #expect(eraser.erased(other, isOfHis: false) == entry("1", "claimed by 1, #7"))
    }

    @Test func `words that were cut off may end in a part of a name`() {
        let cut = entry("bob", "claimed by 1, to…")
        #expect(eraser.erased(cut, isOfHis: true) == entry("bob", "forgotten"))
        let strange = entry("bob", "claimed by joe, to…")
        #expect(eraser.erased(strange, isOfHis: true) == strange)
    }

    @Test func `a quick look misses no name`() {
        #expect(eraser.mayConcern(Array("a1b".utf8)) && eraser.mayConcern(Array("xtok".utf8)))
        #expect(!eraser.mayConcern(Array("to k".utf8)) && !eraser.mayConcern([]))
        #expect(!NameEraser(number: 1, name: "", names: []).mayConcern(Array("any".utf8)))
    }
}
