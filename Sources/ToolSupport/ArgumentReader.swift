/// The command line, taken apart: words in order, flags with their values.
package struct ArgumentReader: Sendable {
    /// What is no flag.
    package private(set) var words: [String] = []
    /// Values by the name of their flag; "" for one that takes none.
    package private(set) var flags: [String: String] = [:]
    private let grammar: CommandGrammar

    /// Reads the arguments that follow the program's name. `--flag value` and `--flag=value` are
    /// the same; after `--` all are words; `-` is a word.
    ///
    /// - Throws: `CommandFailure` with `.usage`, naming the flag and the nearest one.
    package init(
        _ arguments: [String], _ grammar: CommandGrammar
    ) throws(CommandFailure) {
        self.grammar = grammar
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                return
            }
            if argument.hasPrefix("--") {
                try readLong(argument, &rest)
            } else if argument.hasPrefix("-"), argument != "-" {
                try readShort(argument)
            } else {
                words.append(argument)
            }
        }
    }

    private mutating func readLong(
        _ argument: String, _ rest: inout ArraySlice<String>
    ) throws(CommandFailure) {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let flag = flag(named: name) else { throw unknown(name) }
        if let value = flag.value {
            if parts.count == 2 {
                try set(flag, String(parts[1]))
            } else if let next = rest.first, next == "-" || !next.hasPrefix("-") {
                rest.removeFirst()
                try set(flag, next)
            } else {
                throw CommandFailure(.usage, "--\(name) needs a value: --\(name) \(value)")
            }
        } else {
            guard parts.count == 1 else {
                throw CommandFailure(.usage, "--\(name) takes no value")
            }
            try set(flag, "")
        }
    }

    /// The flag of the command whose words have come, else of any: two commands may have flags of
    /// one name, of which one takes a value.
    private func flag(named name: String) -> Flag? {
        let command = grammar.commands.first { words.starts(with: $0.words) }
        return command?.flags.first { $0.name == name } ?? grammar.flagsByName[name]
    }

    private mutating func readShort(_ argument: String) throws(CommandFailure) {
        for letter in argument.dropFirst() {
            guard let flag = grammar.globalFlags.first(where: { $0.letter == letter }) else {
                throw CommandFailure(
                    .usage, "unknown flag `-\(letter)`",
                    hint: "one-letter flags are \(letters)")
            }
            try set(flag, "")
        }
    }

    private mutating func set(_ flag: Flag, _ value: String) throws(CommandFailure) {
        let name = flag.name
        let old = flags.updateValue(value, forKey: name)
        let isToggle = flag.value == nil
        guard old == nil || isToggle else {
            throw CommandFailure(.usage, "--\(name) is given twice")
        }
        guard isToggle || !value.isEmpty else {
            throw CommandFailure(.usage, "--\(name) has an empty value")
        }
    }

    private func unknown(_ name: String) -> CommandFailure {
        let known = grammar.commands.first { words.starts(with: $0.words) }?.flags ?? []
        let names = (known + grammar.globalFlags).map(\.name)
        let nearest =
            NearestName.find(for: name, among: names)
            ?? NearestName.find(for: name, among: grammar.flagsByName.keys.sorted())
        return CommandFailure(
            .usage, "unknown flag `--\(name)`",
            hint: nearest.map { "did you mean --\($0)?" } ?? seeHelp)
    }

    private var seeHelp: String { "see \(grammar.tool) --help" }

    /// `-q, -v and -h`.
    private var letters: String {
        let letters = grammar.globalFlags.compactMap(\.letter).map { "-\($0)" }
        guard let last = letters.last, letters.count > 1 else { return letters.joined() }
        return letters.dropLast().joined(separator: ", ") + " and " + last
    }

    /// The command that the words begin with, by its place in the grammar, and the words after it.
    ///
    /// - Throws: `CommandFailure` with `.usage`, naming the nearest command.
    package func command() throws(CommandFailure) -> (index: Int, operands: [String]) {
        for (index, command) in grammar.commands.enumerated()
        where words.starts(with: command.words) {
            return (index, Array(words.dropFirst(command.words.count)))
        }
        guard let first = words.first else {
            throw CommandFailure(.usage, "no command", hint: seeHelp)
        }
        let members = grammar.commands.filter { $0.words.first == first && $0.words.count > 1 }
        if !members.isEmpty {
            let second = words.dropFirst().first
            let nearest = second.flatMap { word in
                NearestName.find(for: word, among: members.map { $0.words[1] })
            }
            throw CommandFailure(
                .usage,
                second.map { "unknown command `\(first) \($0)`" } ?? "`\(first)` needs a word more",
                hint: "did you mean `\(first) \(nearest ?? members[0].words[1])`?")
        }
        let names = Set(grammar.commands.map { $0.words[0] }).sorted()
        let nearest = NearestName.find(for: first, among: names)
        throw CommandFailure(
            .usage, "unknown command `\(first)`",
            hint: nearest.map { "did you mean `\($0)`?" } ?? seeHelp)
    }
}
