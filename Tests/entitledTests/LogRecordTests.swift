import FoundationEssentials
import Testing

@testable import entitled

@Suite struct LogRecordTests {
    let instant: Int64 = 1_772_964_005_123
    let record = LogRecord(
        level: .warn, message: "slow request",
        fields: [
            .init("method", "CheckAccess"), .init("duration_ms", 120), .init("peer", "a b\"c"),
        ])

    @Test func `a text line has time, level, message and fields`() {
        #expect(
            LogFormatter.text.line(for: record, at: instant)
                == "2026-03-08T10:00:05.123Z warn  slow request method=CheckAccess "
                + "duration_ms=120 peer=\"a b\\\"c\"")
    }

    @Test func `a line for the journal has the priority and no time`() {
        #expect(
            LogFormatter.journal.line(for: record, at: instant)
                == "<4>slow request method=CheckAccess duration_ms=120 peer=\"a b\\\"c\"")
    }

    @Test func `a JSON line has the documented keys in order`() {
        #expect(
            LogFormatter.json.line(for: record, at: instant)
                == "{\"ts\":\"2026-03-08T10:00:05.123Z\",\"level\":\"warn\","
                + "\"msg\":\"slow request\",\"logger\":\"entitled\",\"method\":\"CheckAccess\","
                + "\"duration_ms\":120,\"peer\":\"a b\\\"c\"}")
    }

    @Test(arguments: LogLevel.allCases)
    func `every level has its name and reads back`(level: LogLevel) {
        #expect(LogLevel(name: level.name) == level)
        let line = LogFormatter.text.line(for: LogRecord(level: level, message: "m"), at: 0)
        #expect(line == "1970-01-01T00:00:00.000Z \(level.name)".padded(to: 30) + " m")
    }

    @Test(arguments: [
        "", "plain", "two words", "tab\there", "line\nfeed", "carriage\rreturn", "nul\0",
        "escape \u{1b}[31m", "delete \u{7f}", "c1 \u{9b}31m", "back\\slash", "q\"uote", "ümläut 😀",
        "a=b", "\u{2028}",
    ])
    func `no text breaks a line or the JSON`(text: String) throws {
        let hostile = LogRecord(level: .info, message: text, fields: [.init("error", text)])
        for formatter in [LogFormatter.text, .journal, .json] {
            let line = formatter.line(for: hostile, at: instant)
            #expect(
                line.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value)
                })
        }
        struct Line: Decodable {
            let msg: String
            let error: String
        }
        let json = LogFormatter.json.line(for: hostile, at: instant)
        let line = try JSONDecoder().decode(Line.self, from: Data(json.utf8))
        #expect(line.msg == text)
        #expect(line.error == text)
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }
}
