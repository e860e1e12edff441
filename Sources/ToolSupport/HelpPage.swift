/// What `--help` writes, made from the grammar of a tool.
package struct HelpPage: Sendable {
    /// What frames the list of commands on the page of the whole tool.
    package struct Frame: Sendable {
        /// One line: what the tool is.
        package let summary: String
        /// A command line to begin with.
        package let example: String
        /// Paragraphs after the flags.
        package let closing: [String]

        /// The frame of a tool's page.
        package init(summary: String, example: String, closing: [String]) {
            self.summary = summary
            self.example = example
            self.closing = closing
        }
    }

    private let grammar: CommandGrammar
    private let frame: Frame

    /// The pages of a tool.
    package init(_ grammar: CommandGrammar, _ frame: Frame) {
        self.grammar = grammar
        self.frame = frame
    }

    /// The help of the whole tool.
    package var overview: String {
        var lines = [
            "\(grammar.tool): \(frame.summary)", "",
            "usage: \(grammar.tool) [FLAG]... COMMAND [OPERAND]...", "",
            "  \(frame.example)", "",
        ]
        let width = grammar.commands.map(\.usage.count).max() ?? 0
        lines += grammar.commands.map { "  \(Self.padded($0.usage, width))  \($0.summary)" }
        lines += ["", "Flags of every command:"] + Self.flagLines(grammar.globalFlags)
        lines += [""] + frame.closing
        return lines.joined(separator: "\n") + "\n"
    }

    /// The help of a group such as `customer`.
    package func group(_ word: String) -> String {
        let members = grammar.commands.filter { $0.words.first == word }
        var lines: [String] = []
        for member in members { lines.append(command(member)) }
        return lines.joined(separator: "\n")
    }

    /// The help of one command.
    package func command(_ command: CommandShape) -> String {
        var lines = [
            "usage: \(grammar.tool) \(command.usage) [FLAG]...", "", "  \(command.summary)",
        ]
        if !command.details.isEmpty { lines += [""] + command.details }
        if !command.flags.isEmpty { lines += [""] + Self.flagLines(command.flags) }
        lines += ["", command.examples.count == 1 ? "Example:" : "Examples:"]
        for example in command.examples {
            lines += ["  \(example.line)", "      \(example.purpose)"]
        }
        lines += ["", "Flags of every command: \(grammar.tool) --help"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func flagLines(_ flags: [Flag]) -> [String] {
        let names = flags.map { flag in
            "--\(flag.name)" + (flag.value.map { " \($0)" } ?? "")
                + (flag.letter.map { ", -\($0)" } ?? "")
        }
        let width = names.map(\.count).max() ?? 0
        return zip(names, flags).map { name, flag in
            let variable = flag.variable.map { " (\($0))" } ?? ""
            return "  \(padded(name, width))  \(flag.help)\(variable)"
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
