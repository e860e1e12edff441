/// What the command line says, flag by flag, values still as text.
struct CommandLineArguments: Equatable, Sendable {
    /// What the program is asked to do.
    enum Action: String, CaseIterable, Sendable {
        case run
        case help
        case version
        case checkConfig = "check-config"
        case printConfig = "print-config"
    }

    private(set) var action = Action.run
    /// `--json`, which goes with `--version`.
    private(set) var isJSON = false
    private(set) var values: [SettingKey: [String]] = [:]
    private(set) var problems: [ConfigurationProblem] = []

    /// Every flag there is, without dashes.
    static let flagNames =
        SettingTable.all.compactMap(\.flag) + Action.allCases.dropFirst().map(\.rawValue)
        + ["json"]

    /// Reads the arguments that follow the program's name. `--flag value` and `--flag=value` are
    /// the same; a boolean flag takes its value only after `=`.
    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                refuse("`\(argument)` is no flag; every setting is a flag, see --help")
                continue
            }
            guard argument.hasPrefix("--") || argument == "-h" else {
                refuse("unknown flag `\(argument)`; flags have two dashes, see --help")
                continue
            }
            read(argument == "-h" ? "--help" : argument, rest: &rest)
        }
        if isJSON, action != .version { refuse("--json goes with --version only") }
    }

    private mutating func read(_ argument: String, rest: inout ArraySlice<String>) {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        if let setting = SettingTable.all.first(where: { $0.flag == name }) {
            read(setting, flag: name, attached: attached, rest: &rest)
        } else if attached == nil, name == "json" {
            isJSON = true
        } else if attached == nil, let asked = Action(rawValue: name), asked != .run {
            set(asked)
        } else {
            problems.append(
                .unknown("flag", prefix: "--", name, among: Self.flagNames, exitCode: .usage))
            // What follows is most likely its value: not a second mistake.
            if attached == nil, let next = rest.first, !next.hasPrefix("-") { rest.removeFirst() }
        }
    }

    private mutating func read(
        _ setting: Setting, flag: String, attached: String?, rest: inout ArraySlice<String>
    ) {
        if values[setting.key] != nil, !setting.isList {
            refuse("--\(flag) is given twice")
        }
        if let attached {
            values[setting.key, default: []].append(attached)
        } else if setting.kind == .boolean {
            values[setting.key, default: []].append("true")
        } else if let next = rest.first, !next.hasPrefix("--") {
            values[setting.key, default: []].append(next)
            rest.removeFirst()
        } else {
            refuse("--\(flag) needs a value: \(setting.kind.expectation)")
        }
    }

    /// `--help` and `--version` win over the rest; two different actions otherwise are a mistake.
    private mutating func set(_ asked: Action) {
        if action == .run || asked == .help || (asked == .version && action != .help) {
            action = asked
        } else if action != asked, action != .help, action != .version {
            refuse("--\(action.rawValue) and --\(asked.rawValue) do not go together")
        }
    }

    private mutating func refuse(_ message: String) {
        problems.append(ConfigurationProblem(message, exitCode: .usage))
    }
}
