/// What `--help` writes, made from the table of settings.
enum HelpText {
    static var text: String {
        var lines = [
            "entitled: who may use what was bought on the App Store",
            "",
            "usage: entitled [--config FILE] [FLAG VALUE]...",
            "",
            "  entitled --bundle-id com.example.meadow --app-apple-id 1600000001 \\",
            "    --apple-root AppleRootCA-G3.cer --data /var/lib/entitled",
            "",
            "Settings, as FLAG (ENVIRONMENT VARIABLE, key in the file) [default]:",
        ]
        for setting in SettingTable.all where setting.flag != nil {
            lines += self.lines(of: setting)
        }
        lines += ["", "Only in the file:"]
        for setting in SettingTable.all where setting.flag == nil {
            lines += ["  \(setting.key.rawValue)\(standard(of: setting))"] + wrapped(setting.help)
        }
        lines += [
            "", "Instead of serving:",
            "  --help           this text",
            "  --version        one line; with --json one JSON object",
            "  --check-config   read and check the configuration: exit 0, or 78 and what is wrong",
            "  --print-config   the effective configuration, each value with where it came from",
            "",
            "A flag wins over its environment variable, that over the file, that over the default.",
            "Durations: 250ms 30s 5m 12h 90d. Sizes: 64KiB 64MiB 2GiB. Empty means not set.",
            "Exit codes: 0 stopped, 64 usage, 65 damaged data, 71 operating system, 73 data",
            "directory in use, 74 input or output, 77 permission, 78 configuration.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(of setting: Setting) -> [String] {
        guard let flag = setting.flag, let variable = setting.environmentName else { return [] }
        let value = setting.kind == .boolean ? "" : " \(setting.placeholder)"
        let more = setting.isList ? "..." : ""
        let key = setting.key == .config ? "" : ", \(setting.key.rawValue)"
        let name = "  --\(flag)\(value)\(more)"
        let places = "(\(variable)\(key))\(standard(of: setting))"
        // A long name pushes the rest to the next lines.
        return
            (name.count + 1 + places.count <= columnCount
            ? ["\(name) \(places)"] : [name] + wrapped(places)) + wrapped(setting.help)
    }

    private static let columnCount = 100

    /// Indented lines that fit a terminal.
    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "     "
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > columnCount {
                lines.append(line)
                line = "     "
            }
            line += " \(word)"
        }
        return lines + [line]
    }

    private static func standard(of setting: Setting) -> String {
        setting.standard.isEmpty ? "" : " [\(setting.standard.joined(separator: ", "))]"
    }
}
