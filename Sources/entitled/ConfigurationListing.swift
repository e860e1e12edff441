/// What `--print-config` writes: a configuration file that says the same, each value with where it
/// came from.
enum ConfigurationListing {
    /// JSON5, with a line feed at its end. Secrets stay in their files: only the names of the files
    /// are shown, and a setting that held a secret would show `***`.
    /// `file` is the path of the configuration file that was read.
    static func text(of resolved: ResolvedSettings, file: String?) -> String {
        var root = Branch()
        for setting in SettingTable.all where setting.key != .config {
            guard let value = resolved.settings[setting.key] else { continue }
            root.insert(leaf(setting, value), steps: steps(setting.key.rawValue))
        }
        var lines = ["// configuration file: \(file.map(quoted) ?? "none")", "{"]
        lines += apps(resolved.apps)
        lines += root.lines(indent: 1)
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func steps(_ key: String) -> ArraySlice<String> {
        key.split(separator: ".").map(String.init)[...]
    }

    /// Settings below an element are keyed by what follows the last bracket.
    private static func innerSteps(_ key: SettingKey) -> ArraySlice<String> {
        let parts = key.rawValue.split(omittingEmptySubsequences: true) { $0 == "]" || $0 == "}" }
        return steps(String(parts.last?.dropFirst() ?? ""))
    }

    private static func apps(_ apps: [ResolvedSettings.App]) -> [String] {
        guard !apps.isEmpty else { return [] }
        var lines = ["    apps: ["]
        for app in apps {
            var branch = Branch()
            for setting in SettingTable.all {
                guard let value = app.settings[setting.key] else { continue }
                branch.insert(leaf(setting, value), steps: innerSteps(setting.key))
            }
            lines +=
                ["        {"] + branch.lines(indent: 3) + products(app.products) + ["        },"]
        }
        return lines + ["    ],"]
    }

    private static func products(_ products: [ResolvedSettings.Product]) -> [String] {
        guard !products.isEmpty else { return [] }
        var lines = ["            products: {"]
        for product in products {
            var branch = Branch()
            for setting in SettingTable.all {
                guard let value = product.settings[setting.key] else { continue }
                branch.insert(leaf(setting, value), steps: innerSteps(setting.key))
            }
            lines += ["                \(quoted(product.id)): {"] + branch.lines(indent: 5)
            lines += ["                },"]
        }
        return lines + ["            },"]
    }

    /// A value as JSON5, and a comment that names its source.
    private static func leaf(_ setting: Setting, _ value: ResolvedSetting) -> String {
        let texts = value.values.map { text(of: $0, kind: setting.kind) }
        let list = setting.isList ? "[\(texts.joined(separator: ", "))]" : texts.joined()
        let secret = setting.credential == nil ? "" : "; its content: ***"
        return "\(list), // \(value.source.text)\(secret)"
    }

    private static func text(of value: SettingValue, kind: SettingKind) -> String {
        switch (value, kind) {
        case (.boolean(let value), _): String(value)
        case (.text(let value), _): quoted(value)
        case (.integer(let value), .duration): quoted(Quantity.durationText(value))
        case (.integer(let value), .size), (.integer(let value), .memory):
            quoted(Quantity.sizeText(value))
        case (.integer(let value), .amount): Quantity.millionthsText(value)
        case (.integer(let value), _): String(value)
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                result +=
                    "\\x" + (scalar.value < 0x10 ? "0" : "")
                    + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A level of the document; keys in the order in which they were inserted.
    private struct Branch {
        private var leaf: String?
        private var names: [String] = []
        private var branches: [String: Branch] = [:]

        mutating func insert(_ leaf: String, steps: ArraySlice<String>) {
            guard let step = steps.first else {
                self.leaf = leaf
                return
            }
            if branches[step] == nil { names.append(step) }
            branches[step, default: Branch()].insert(leaf, steps: steps.dropFirst())
        }

        func lines(indent: Int) -> [String] {
            let space = String(repeating: "    ", count: indent)
            return names.flatMap { name -> [String] in
                guard let branch = branches[name] else { return [] }
                if let leaf = branch.leaf { return ["\(space)\(name): \(leaf)"] }
                return ["\(space)\(name): {"] + branch.lines(indent: indent + 1) + ["\(space)},"]
            }
        }
    }
}
