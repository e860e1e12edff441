internal import EntitledClient
internal import ToolSupport

/// How the tool is told to speak TLS: a flag, or a variable for each.
enum TLSFlags {
    static let flags: [Flag] = [
        .toggle("tls", "speak TLS; each of the following says so too"),
        .value(
            "tls-ca", "FILE", "certificates (PEM) to trust instead of the system's",
            variable: "ENTITLECTL_TLS_CA"),
        .value(
            "tls-cert", "FILE", "the certificate (PEM) to show to a server that asks for one",
            variable: "ENTITLECTL_TLS_CERT"),
        .value(
            "tls-key", "FILE", "the unencrypted key of that certificate (PEM)",
            variable: "ENTITLECTL_TLS_KEY"),
        .value(
            "tls-server-name", "NAME", "the name in the server's certificate [the address]",
            variable: "ENTITLECTL_TLS_SERVER_NAME"),
    ]

    /// What was said; nil: nothing, and plain text is spoken.
    ///
    /// - Throws: `CommandFailure` when a file cannot be read.
    static func read(
        _ flags: [String: String], environment: [String: String]
    ) throws(CommandFailure) -> ClientTLS? {
        func value(_ flag: String) -> String? {
            let variable = "ENTITLECTL_" + flag.uppercased().replacing("-", with: "_")
            let text = flags[flag] ?? environment[variable]
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        func file(_ flag: String) throws(CommandFailure) -> [UInt8]? {
            try value(flag).map { (path) throws(CommandFailure) in
                try SystemCalls.readFile(path)
            }
        }
        var tls = ClientTLS()
        tls.trustedCertificates = try file("tls-ca")
        tls.certificateChain = try file("tls-cert")
        tls.privateKey = try file("tls-key")
        tls.serverName = value("tls-server-name")
        return flags["tls"] != nil || tls != ClientTLS() ? tls : nil
    }
}
