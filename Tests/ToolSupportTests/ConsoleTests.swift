import Synchronization
import Testing

@testable import ToolSupport

/// Keeps what a console writes.
final class ConsoleRecord: Sendable {
    private let texts = Mutex<[String]>([])

    func console(usesColour: Bool = false, isQuiet: Bool = false) -> Console {
        Console(tool: "tool", usesColour: usesColour, isQuiet: isQuiet) { [self] text, stream in
            texts.withLock { $0.append((stream == .output ? "out:" : "err:") + text) }
        }
    }

    var all: [String] { texts.withLock { $0 } }
}

@Suite struct ConsoleTests {
    @Test func `results go to stdout, words to stderr`() {
        let record = ConsoleRecord()
        let console = record.console()
        console.print("a")
        console.print(JSONValue.object([("b", .null)]))
        console.note("c")
        console.fail(CommandFailure(.failed, "d", hint: "e\nf"))
        console.page("g\n")
        #expect(
            record.all == [
                "out:a\n", "out:{\"b\":null}\n", "err:c\n", "err:tool: d\n  e\n  f\n", "out:g\n",
            ])
    }

    @Test func `quiet holds notes back, and no failure`() {
        let record = ConsoleRecord()
        let console = record.console(isQuiet: true)
        console.note("c")
        console.detail("d")
        console.rewrite("bar")
        console.alwaysNote(["x"])
        console.fail(CommandFailure(.failed, "f"))
        #expect(record.all == ["err:x\n", "err:tool: f\n"])
    }

    @Test func `colours surround their piece only`() {
        let record = ConsoleRecord()
        record.console(usesColour: true).print(Line("a", .good).adding("b").adding("c", .bad))
        #expect(record.all == ["out:\u{1B}[32ma\u{1B}[0mb\u{1B}[31mc\u{1B}[0m\n"])
    }

    @Test(arguments: [
        ("a\u{1B}[2J", "a\\u{1b}[2J"), ("\u{202E}x", "\\u{202e}x"), ("a\nb", "a\\u{a}b"),
        ("ä ok", "ä ok"), ("\u{7F}\u{9B}", "\\u{7f}\\u{9b}"),
    ])
    func `what a terminal would obey is made visible`(text: String, clean: String) {
        #expect(Console.clean(text) == clean)
    }
}
