import Testing
import ToolSupport

@testable import entitlectl

@Suite struct ImportRecordsTests {
    private static let names = "customer_id,customer_kind,household_id,links\r\n"

    /// The records of a file that comes in pieces of `byteCount` bytes.
    private func records(
        _ bytes: [UInt8], csv: Bool, byteCount: Int = 1 << 16
    ) throws -> [ImportRecord] {
        let pieces = stride(from: 0, to: bytes.count, by: byteCount).map {
            Array(bytes[$0..<min(bytes.count, $0 + byteCount)])
        }
        var reader = RecordReader(
            isCSV: csv, source: ImportSource(pieces: pieces, descriptor: nil))
        var records: [ImportRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    private func records(_ text: String, csv: Bool) throws -> [ImportRecord] {
        let whole = try records(Array(text.utf8), csv: csv)
        for byteCount in [1, 3, 7] {
            let pieces = try records(Array(text.utf8), csv: csv, byteCount: byteCount)
            #expect(pieces == whole)
        }
        return whole
    }

    private func ids(_ records: [ImportRecord]) -> [String] {
        records.map { record in
            switch record.cells {
            case .success(let cells): "\(record.line) \(cells["customer_id"] ?? "?")"
            case .failure(let fault): "\(record.line) \(fault.reason)"
            }
        }
    }

    @Test(arguments: ["", "\u{FEFF}"])
    func `lines of JSON are read one by one, and a wrong one costs itself`(mark: String) throws {
        let text =
            mark + #"{"customer_id":"a"}"# + "\r\n\n"
            + #"{"customer_id":"b""# + "\n" + "[]\n" + #"{"customer_id":{}}"# + "\n"
            + #"{"customer_id":"c\u0000"}"#
        #expect(
            ids(try records(text, csv: false)) == [
                "1 a", "3 MALFORMED_LINE", "4 MALFORMED_LINE", "5 MALFORMED_VALUE", "6 c\u{0}",
            ])
        #expect(try records("", csv: false).isEmpty && records("\n\r\n ", csv: false).isEmpty)
    }

    @Test func `null is empty, and what is not there is not there`() throws {
        let text = #"{"customer_id":null,"chain_linked":true,"links":7,"more":[1]}"#
        let record = try #require(try records(text, csv: false).first)
        #expect(
            record.cells
                == .success(["customer_id": "", "chain_linked": "true", "links": "7"]))
    }

    @Test func `quoted values hold anything, and apostrophes before formulas go`() throws {
        let text =
            Self.names + "'=a,k,,\n" + "\"b,\"\"\r\n\",k,h,\"\"\r\n" + "\r\n" + "''c,k,,"
        let records = try records(text, csv: true)
        #expect(ids(records) == ["2 =a", "3 b,\"\r\n", "6 'c"])
        let cells = ["customer_id": "b,\"\r\n", "customer_kind": "k", "household_id": "h"]
        #expect(records[1].cells == .success(cells.merging(["links": ""]) { $1 }))
    }

    @Test func `what is quoted wrongly ends with its line`() throws {
        let text =
            Self.names + "a\"b,k,,\n" + "\"c\"d,k,,\n" + "\"never ended,k,,\n" + "e,k,,\n" + "f,k\n"
            + "g\rh,k,,\n" + "i,k,,\n"
        #expect(
            ids(try records(text, csv: true)) == [
                "2 MALFORMED_LINE", "3 MALFORMED_LINE", "4 MALFORMED_LINE", "5 e",
                "6 MALFORMED_LINE", "7 MALFORMED_LINE", "8 i",
            ])
    }

    @Test(arguments: [true, false])
    func `what is no text is refused by its line`(csv: Bool) throws {
        let head = csv ? Array(Self.names.utf8) : []
        let tail = csv ? "z,k,,\n" : #"{"customer_id":"z"}"# + "\n"
        for wrong: [UInt8] in [[0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80]] {
            let bytes = head + wrong + Array((csv ? ",k,,\n" : "\n").utf8) + Array(tail.utf8)
            let expected =
                csv ? ["2 MALFORMED_LINE", "3 z"] : ["1 MALFORMED_LINE", "2 z"]
            #expect(ids(try records(bytes, csv: csv)) == expected)
        }
    }

    @Test(arguments: [true, false])
    func `a line without end costs no memory and not the others`(csv: Bool) throws {
        let head = csv ? Array(Self.names.utf8) : []
        let tail = Array((csv ? "\nz,k,,\n" : "\n" + #"{"customer_id":"z"}"#).utf8)
        for first in [UInt8(ascii: "a"), UInt8(ascii: "\""), 0] {
            let long =
                [first]
                + [UInt8](repeating: UInt8(ascii: "x"), count: RecordReader.byteCountMax + 9)
            let found = ids(try records(head + long + tail, csv: csv))
            let start = csv ? 2 : 1
            #expect(found == ["\(start) LINE_TOO_LONG", "\(start + 1) z"])
        }
    }

    @Test(arguments: [
        "", "\n", "customer_id\n", "a,b\n", "\"customer_id\n", "\u{FF}",
        "customer_id,customer_kind,transaction_id,signed_payload\n",
        "{\"customer_id\":1}\n",
    ])
    func `a CSV file without the names is no export`(text: String) throws {
        #expect(throws: CommandFailure.self) { try records(Array(text.utf8), csv: true) }
    }
}
