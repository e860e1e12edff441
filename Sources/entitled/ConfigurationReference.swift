/// The article about the settings, made from their table; a test keeps the article in the
/// documentation equal to it.
enum ConfigurationReference {
    /// Markdown, with a line feed at its end.
    static var text: String {
        var lines = [introduction]
        lines += [
            "## Settings", "",
            "| key in the file | flag | default | value | meaning |",
            "| --- | --- | --- | --- | --- |",
        ]
        for setting in SettingTable.all {
            lines.append(row(of: setting))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let introduction = """
        # Configuration

        Every setting can be said in three ways: as a key in the configuration file (JSON5:
        comments, trailing commas, keys without quotes), as an environment variable, and as a
        flag. A flag wins over its environment variable, that over the file, that over the
        default. The variable is `ENTITLED_` and the flag in capitals: `--data-sync` is
        `ENTITLED_DATA_SYNC`. An empty value is a value that is not set.

        ```json5
        {
            apps: [{
                bundleId: "com.example.meadow", appAppleId: 1600000001,
                environments: ["Production", "Sandbox"],
                products: {
                    "meadow.plus.month": { entitlements: ["plus"], unitCost: 0.02 },
                    "meadow.season": { duration: "90d", refunds: { prorated: "keep" } },
                },
            }],
            apple: { roots: ["AppleRootCA-G3.cer"] },
            data: "/var/lib/entitled",
            listen: ["127.0.0.1:7420", "unix:/run/entitled/rpc.sock"],
        }
        ```

        An unknown key, flag or variable is refused, with the nearest name that is known; so is a
        key that stands twice. `--check-config` reads and checks everything, the certificates
        included, and exits with 0 or 78; `--print-config` prints the effective values as a
        configuration file, each with where it came from.

        Secrets stand in files of their own. A file in `$CREDENTIALS_DIRECTORY` (systemd's
        `LoadCredential=`) that is named like the credential below is taken without being
        configured. Paths in the configuration file are relative to that file, elsewhere to the
        working directory.

        `[]` stands for each element of a list, `{}` for each key of an object:
        `apps[].products{}.duration` is the duration of a product of an app. A product that the
        catalog does not name works by its own id. The flags of an app define the only one, or
        change the only one of the file; several apps need the file. In an environment variable
        the elements of a list are separated by commas; a flag is repeated.

        """

    private static func row(of setting: Setting) -> String {
        let key = setting.key == .config ? "" : "`\(setting.key.rawValue)`"
        let standard = setting.standard.map { "`\($0)`" }.joined(separator: ", ")
        let value = (setting.isList ? "one or more: " : "") + setting.kind.expectation
        let credential = setting.credential.map { "; credential `\($0)`" } ?? ""
        let cells = [key, flag(of: setting), standard, value, setting.help + credential]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private static func flag(of setting: Setting) -> String {
        setting.flag.map { "`--\($0)`" } ?? ""
    }
}
