internal import Entitlements

/// Where a value came from, weakest first.
enum SettingSource: Equatable, Sendable {
    case standard
    /// A file in `$CREDENTIALS_DIRECTORY` of this name.
    case credential(name: String)
    case file(path: String, line: Int)
    case environment(name: String)
    case flag(name: String)

    /// For people: "default", "entitled.json5:3", "environment ENTITLED_DATA", "flag --data".
    var text: String {
        switch self {
        case .standard: "default"
        case .credential(let name): "credential \(name)"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag --\(name)"
        }
    }
}

/// The values of one setting and where they came from.
struct ResolvedSetting: Equatable, Sendable {
    let values: [SettingValue]
    let source: SettingSource
}

/// Every setting's value after precedence: default < credential < file < environment < flag.
struct ResolvedSettings: Equatable, Sendable {
    /// The settings of one app.
    struct App: Equatable, Sendable {
        var settings: [SettingKey: ResolvedSetting] = [:]
        /// In the order of the file.
        var products: [Product] = []
    }

    /// The settings of one product of an app.
    struct Product: Equatable, Sendable {
        let id: String
        var settings: [SettingKey: ResolvedSetting] = [:]
    }

    var settings: [SettingKey: ResolvedSetting] = [:]
    var apps: [App] = []

    /// The keys whose values differ, whatever their sources; `apps` for anything of an app. Sorted.
    func keysThatDiffer(from other: ResolvedSettings) -> [String] {
        let keys = SettingKey.allCases.filter {
            settings[$0]?.values != other.settings[$0]?.values
        }
        let isSame = apps.count == other.apps.count && zip(apps, other.apps).allSatisfy(Self.agree)
        return (keys.map(\.rawValue) + (isSame ? [] : ["apps"])).sorted()
    }

    private static func agree(_ left: App, _ right: App) -> Bool {
        left.settings.mapValues(\.values) == right.settings.mapValues(\.values)
            && left.products.count == right.products.count
            && zip(left.products, right.products).allSatisfy {
                $0.id == $1.id && $0.settings.mapValues(\.values) == $1.settings.mapValues(\.values)
            }
    }
}

/// Merges the sources by precedence and reads every value by its setting's kind.
struct SettingsResolver {
    private(set) var resolved = ResolvedSettings()
    private(set) var problems: [ConfigurationProblem] = []

    /// Merges the sources; `credentials` are the names of the files in `$CREDENTIALS_DIRECTORY`,
    /// and their paths.
    init(
        file: ConfigurationFile?, environment: EnvironmentVariables,
        arguments: CommandLineArguments, credentials: [String: String]
    ) {
        for setting in SettingTable.all { resolveDefault(of: setting, credentials: credentials) }
        if let file { resolve(file) }
        for setting in SettingTable.all {
            if let text = environment.values[setting.key], let name = setting.environmentName {
                let texts = setting.isList ? Self.listElements(text) : [text]
                resolve(setting, texts: texts, source: .environment(name: name))
            }
        }
        for setting in SettingTable.all {
            if let texts = arguments.values[setting.key], let name = setting.flag {
                resolve(setting, texts: texts, source: .flag(name: name))
            }
        }
    }

    /// The elements of a list in an environment variable.
    static func listElements(_ text: String) -> [String] {
        text.split(separator: ",").map { element in
            String(element.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private mutating func resolveDefault(of setting: Setting, credentials: [String: String]) {
        guard !setting.key.rawValue.hasPrefix("apps[]") else { return }
        if !setting.standard.isEmpty {
            let raw = setting.standard.map { JSON5Value.text($0) }
            if let values = read(setting, raw: raw, source: .standard) {
                resolved.settings[setting.key] = ResolvedSetting(values: values, source: .standard)
            }
        }
        if let name = setting.credential, let path = credentials[name] {
            resolved.settings[setting.key] = ResolvedSetting(
                values: [.text(path)], source: .credential(name: name))
        }
    }

    // MARK: The file

    private mutating func resolve(_ file: ConfigurationFile) {
        problems += file.problems
        resolved.apps = file.products.map { ids in
            ResolvedSettings.App(products: ids.map { ResolvedSettings.Product(id: $0) })
        }
        // Ten thousand products: no entry looks at all of them.
        let places = file.products.map { ids in
            Dictionary(
                zip(ids.map { ExactName($0) }, ids.indices),
                uniquingKeysWith: { first, _ in first })
        }
        for entry in file.entries {
            let setting = SettingTable[entry.key]
            let source = SettingSource.file(path: file.path, line: entry.line)
            let raw = Self.elements(of: entry.value, isList: setting.isList)
            guard !raw.isEmpty, let values = read(setting, raw: raw, source: source) else {
                continue
            }
            let result = ResolvedSetting(
                values: setting.kind == .path
                    ? values.map { Self.relative($0, to: file.path) } : values,
                source: source)
            guard let app = entry.app else {
                resolved.settings[entry.key] = result
                continue
            }
            if let id = entry.product, let product = places[app][ExactName(id)] {
                resolved.apps[app].products[product].settings[entry.key] = result
            } else {
                resolved.apps[app].settings[entry.key] = result
            }
        }
    }

    /// The values of a list setting, of which a single value is the short form, or of a single
    /// one; what is empty is unset.
    private static func elements(of value: JSON5Value, isList: Bool) -> [JSON5Value] {
        var elements = [value]
        if isList, case .list(let list) = value { elements = list }
        return elements.filter { $0 != .null && $0 != .text("") }
    }

    private static func relative(_ value: SettingValue, to file: String) -> SettingValue {
        guard case .text(let path) = value, !path.hasPrefix("/"),
            let slash = file.lastIndex(of: "/")
        else { return value }
        return .text(String(file[...slash]) + path)
    }

    // MARK: The environment and the command line

    private mutating func resolve(_ setting: Setting, texts: [String], source: SettingSource) {
        let raw = texts.filter { !$0.isEmpty }.map { JSON5Value.text($0) }
        guard !raw.isEmpty, let values = read(setting, raw: raw, source: source) else { return }
        let result = ResolvedSetting(values: values, source: source)
        guard setting.key.rawValue.hasPrefix("apps[]") else {
            resolved.settings[setting.key] = result
            return
        }
        if resolved.apps.isEmpty { resolved.apps.append(ResolvedSettings.App()) }
        guard resolved.apps.count == 1 else {
            refuse(
                "\(source.text) does not say which of the \(resolved.apps.count) apps of the "
                    + "configuration file it means", source: source)
            return
        }
        resolved.apps[0].settings[setting.key] = result
    }

    // MARK: Values

    private mutating func read(
        _ setting: Setting, raw: [JSON5Value], source: SettingSource
    ) -> [SettingValue]? {
        guard setting.isList || raw.count == 1 else {
            refuse(
                "`\(setting.key.rawValue)` (\(source.text)) takes one value, not \(raw.count)",
                source: source)
            return nil
        }
        var values: [SettingValue] = []
        for element in raw {
            do throws(SettingValueError) {
                values.append(try setting.kind.parse(element))
            } catch {
                refuse(
                    "`\(setting.key.rawValue)` (\(source.text)) must be \(error.expected), "
                        + "not \(error.found)", source: source)
                return nil
            }
        }
        if hasRepeats(values) {
            refuse(
                "`\(setting.key.rawValue)` (\(source.text)) names a value twice", source: source)
            return nil
        }
        return values
    }

    /// Texts are the same when their bytes are: two spellings of one accent are two names.
    private func hasRepeats(_ values: [SettingValue]) -> Bool {
        var texts: Set<ExactName> = []
        var others: Set<SettingValue> = []
        return values.contains { value in
            if case .text(let text) = value { return !texts.insert(ExactName(text)).inserted }
            return !others.insert(value).inserted
        }
    }

    private mutating func refuse(_ message: String, source: SettingSource) {
        var exitCode = ExitCode.configuration
        if case .flag = source { exitCode = .usage }
        problems.append(ConfigurationProblem(message, exitCode: exitCode))
    }
}
