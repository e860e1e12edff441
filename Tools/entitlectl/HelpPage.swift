/// What `--help` writes, made from the table of commands.
enum HelpPage {
    /// The help of the whole tool.
    static var overview: String {
        var lines = [
            "entitlectl: asks and feeds an entitled server", "",
            "usage: entitlectl [FLAG]... COMMAND [OPERAND]...", "",
            "  entitlectl check u-1001 meadow.plus", "",
        ]
        let width = CommandTable.all.map(\.usage.count).max() ?? 0
        lines += CommandTable.all.map { "  \(padded($0.usage, width))  \($0.summary)" }
        lines += ["", "Flags of every command:"] + flagLines(CommandTable.globalFlags)
        lines += [
            "", CommandTable.customerHelp,
            "Times are RFC 3339, such as 2026-03-08T10:00:05Z or 2026-03-08, or ms since 1970.",
            "Results go to stdout, everything else to stderr. --help of a command names the",
            "members of its JSON; they keep their names and meaning, new ones come at the end.",
            "Exit codes: 0 done, 1 failed, 2 usage, 3 denied (check --exit-code), 4 not found,",
            "5 no permission, 6 unavailable or too late, 7 conflict, 78 bad environment variable.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The help of a group such as `customer`.
    static func group(_ word: String) -> String {
        let members = CommandTable.all.filter { $0.words.first == word }
        var lines: [String] = []
        for member in members { lines.append(command(member)) }
        return lines.joined(separator: "\n")
    }

    /// The help of one command.
    static func command(_ command: Command) -> String {
        var lines = ["usage: entitlectl \(command.usage) [FLAG]...", "", "  \(command.summary)"]
        if !command.details.isEmpty { lines += [""] + command.details }
        if !command.flags.isEmpty { lines += [""] + flagLines(command.flags) }
        lines += ["", command.examples.count == 1 ? "Example:" : "Examples:"]
        for example in command.examples {
            lines += ["  \(example.line)", "      \(example.purpose)"]
        }
        lines += ["", "Flags of every command: entitlectl --help"]
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
