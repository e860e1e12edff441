import Testing
import ToolSupport

@testable import EntitledClient
@testable import entitlectl

@Suite struct ExportTableTests {
    @Test(arguments: ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=1", "''"])
    func `a text that would be a formula is none in a spreadsheet`(text: String) {
        #expect(ExportCell.text(text).csv == "'" + text)
        #expect(ExportCell.unguarded(ExportCell.text(text).csv) == text)
        #expect(ExportCell.text(text).json == .string(text))
    }

    @Test func `other values are as they are`() {
        #expect(ExportCell.text("a=b").csv == "a=b" && ExportCell.text("").csv.isEmpty)
        #expect(ExportCell.integer(-5).csv == "-5" && ExportCell.flag(true).csv == "true")
        #expect(ExportCell.instant(0).csv == "1970-01-01T00:00:00.000Z")
        #expect(ExportCell.instant(nil).csv.isEmpty && ExportCell.instant(nil).json == .null)
    }

    @Test func `names come once, and lines are quoted and ended as the RFC says`() {
        let rows: [[ExportCell]] = [
            [
                .text("a,b"), .text("h"), .text("x \"y\""), .integer(1), .integer(2),
                .text("k"), .text(""),
            ]
        ]
        let line = "\"a,b\",h,\"x \"\"y\"\"\",1,2,k,\r\n"
        #expect(
            ExportTable.customers.csv(rows, withNames: true)
                == "customer_id,household_id,identities,transactions,revision,customer_kind,links"
                + "\r\n" + line)
        #expect(ExportTable.customers.csv(rows, withNames: false) == line)
        #expect(ExportTable.customers.csv([], withNames: false).isEmpty)
        #expect(
            ExportTable.customers.json(rows[0]).text
                == #"{"customer_id":"a,b","household_id":"h","identities":"x \"y\"","#
                + #""transactions":1,"revision":2,"customer_kind":"k","links":null}"#)
    }
}
