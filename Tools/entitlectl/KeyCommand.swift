internal import Authorization
internal import ToolSupport

/// `key`: who may call. Works on the keys file; a running server takes it up within a minute, or
/// at once on SIGHUP.
enum KeyCommand {
    private static let standardPath = "/etc/entitled/keys.jsonl"
    private static let keysFile = Flag.value(
        "keys-file", "FILE", "the server's auth.keysFile [\(standardPath)]",
        variable: "ENTITLECTL_KEYS_FILE")

    static let create = Command(
        words: ["key", "create"], operands: [],
        flags: [
            .value("name", "NAME", "for people: who will use it"),
            .value("roles", "LIST", "check, ingest, admin, metrics; separated by commas"),
            .value(
                "apps", "LIST",
                "bundle ids, each with or without :Production or :Sandbox [all apps]"),
            .value("expires", "WHEN", "90d, 12h, or an instant such as 2027-03-01 [never]"),
            .value(
                "certificate", "NAME",
                "no key: the client certificate with this name, such as dns:backend.example"),
            keysFile,
        ],
        summary: "let somebody call the server",
        details: [
            "Prints the key once, on stdout, alone; the file keeps its SHA-256. admin includes",
            "check, ingest and metrics.",
            "JSON: id, name, roles, apps, expires, key (null with --certificate).",
        ],
        examples: [
            (
                "entitlectl key create --name backend --roles check,ingest --expires 90d > key",
                "a key for a backend"
            )
        ],
        body: runCreate)

    static let list = Command(
        words: ["key", "list"], operands: [], flags: [keysFile],
        summary: "who may call the server",
        details: [
            "Never shows a secret, for the file has none.",
            "JSON, one object a line: id, name, roles, apps, created, expires, state (valid,",
            "expired, revoked), certificate (null for a key).",
        ],
        examples: [("entitlectl key list --output json", "for a script")],
        body: runList)

    static let revoke = Command(
        words: ["key", "revoke"], operands: ["ID"],
        flags: [.toggle("yes", "do not ask"), keysFile],
        summary: "let a key be of no more use",
        details: [
            "Its record stays in the file, so that its holder is told KEY_REVOKED.",
            "JSON: id, name, revoked.",
        ],
        examples: [("entitlectl key revoke k7wq2mzpaf --yes", "from a script")],
        body: runRevoke)

    private static func path(_ invocation: Invocation) -> String {
        let variable = invocation.environment["ENTITLECTL_KEYS_FILE"].flatMap {
            $0.isEmpty ? nil : $0
        }
        return invocation.value("keys-file") ?? variable ?? standardPath
    }

    private static var nowMilliseconds: Int64 { SystemCalls.nowMilliseconds }

    private static func read(_ path: String) throws(CommandFailure) -> KeysFile {
        let bytes = try SystemCalls.readFile(path)
        do throws(KeysFileError) {
            return try KeysFile(bytes)
        } catch {
            throw CommandFailure(.failed, "\(path): \(error.description)")
        }
    }
}

// MARK: - create

extension KeyCommand {
    @Sendable private static func runCreate(
        _ invocation: Invocation
    ) throws(CommandFailure) -> ExitStatus {
        let path = path(invocation)
        let (record, key) = try record(invocation)
        try SystemCalls.locking(path) { () throws(CommandFailure) in
            var file = SystemCalls.fileExists(path) ? try read(path) : KeysFile()
            file.append(record)
            try SystemCalls.replaceFile(path, Array(file.text.utf8))
        }
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("id", .string(record.id)), ("name", .string(record.name)),
                    ("roles", .array(record.roles.names.map { .string($0) })),
                    ("apps", .array(record.apps.map { .string($0.text) })),
                    ("expires", instant(record.expires)), ("key", key.map { .string($0) } ?? .null),
                ]))
        } else {
            if let key { invocation.console.print(Line(key)) }
            invocation.console.note(
                "\(record.id) (\(record.name)) is in \(path); a running server takes it up within "
                    + "a minute, or at once on SIGHUP")
        }
        return .success
    }

    private static func record(
        _ invocation: Invocation
    ) throws(CommandFailure) -> (KeyRecord, key: String?) {
        guard let name = invocation.value("name"), !name.isEmpty,
            name.utf8.count <= KeyRecord.nameByteCountMax
        else {
            throw CommandFailure(.usage, "who will use it? name him with --name, in 128 bytes")
        }
        let made = KeyText.make { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        var credential = KeyCredential.key(KeyText.digest(of: made.text))
        let certificate = invocation.value("certificate")
        if let certificate {
            guard KeyRecord.isCertificateName(certificate) else {
                throw CommandFailure(
                    .usage,
                    "--certificate: `\(certificate)` is no name such as "
                        + "dns:backend.example, uri:..., email:... or cn:...")
            }
            credential = .certificate(certificate)
        }
        var record = KeyRecord(
            id: made.id, name: name, credential: credential, roles: try roles(invocation),
            apps: try apps(invocation))
        if let problem = KeyRecord.problem(roles: record.roles, apps: record.apps) {
            throw CommandFailure(.usage, "--roles, --apps: \(problem)")
        }
        record.created = nowMilliseconds / 1_000 * 1_000
        record.expires = try expiry(invocation, from: record.created)
        return (record, certificate == nil ? made.text : nil)
    }

    private static func roles(_ invocation: Invocation) throws(CommandFailure) -> Roles {
        guard let text = invocation.value("roles") else {
            throw CommandFailure(
                .usage, "what may it do? name its --roles: check, ingest, admin, metrics")
        }
        var roles: Roles = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = Roles(name: String(name)) else {
                throw CommandFailure(
                    .usage, "--roles: `\(name)` is none of check, ingest, admin, metrics")
            }
            roles.formUnion(role)
        }
        return roles
    }

    private static func apps(_ invocation: Invocation) throws(CommandFailure) -> [KeyApp] {
        guard let text = invocation.value("apps") else { return [] }
        var apps: [KeyApp] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let app = KeyApp(String(name)) else {
                throw CommandFailure(
                    .usage,
                    "--apps: `\(name)` is no bundle id, with or without :Production or :Sandbox")
            }
            apps.append(app)
        }
        return apps
    }

    /// A number of days, a length of time, or an instant; 0 without one.
    private static func expiry(
        _ invocation: Invocation, from now: Int64
    ) throws(CommandFailure) -> Int64 {
        guard let text = invocation.value("expires") else { return 0 }
        var milliseconds: Int64?
        if text.hasSuffix("d"), let days = Int64(text.dropLast()), 1...36_500 ~= days {
            milliseconds = now + days * 86_400_000
        } else if let span = TimeSpan.parse(text) {
            milliseconds = now + span.components.seconds * 1_000
        } else if text.contains("-") {
            milliseconds = Instant.parse(text)
        }
        guard let milliseconds, milliseconds > now, KeyInstant.text(milliseconds).count == 20 else {
            throw CommandFailure(
                .usage, "--expires: `\(text)` is nothing to come such as 90d, 12h or 2027-03-01")
        }
        return milliseconds / 1_000 * 1_000
    }
}

// MARK: - list and revoke

extension KeyCommand {
    private static func instant(_ milliseconds: Int64) -> JSONValue {
        milliseconds == 0 ? .null : .string(KeyInstant.text(milliseconds))
    }

    private static func state(_ record: KeyRecord) -> String {
        if record.isRevoked { return "revoked" }
        return record.expires > 0 && record.expires <= nowMilliseconds ? "expired" : "valid"
    }

    @Sendable private static func runList(
        _ invocation: Invocation
    ) throws(CommandFailure) -> ExitStatus {
        let records = try read(path(invocation)).records
        var table = Table([
            .text("ID"), .text("NAME"), .text("ROLES"), .text("APPS"), .text("CREATED"),
            .text("EXPIRES"), .text("STATE"), .text("BY"),
        ])
        for record in records {
            let certificate: String? =
                if case .certificate(let name) = record.credential { name } else { nil }
            let apps = record.apps.map(\.text)
            guard !invocation.isJSON else {
                invocation.console.print(
                    JSONValue.object([
                        ("id", .string(record.id)), ("name", .string(record.name)),
                        ("roles", .array(record.roles.names.map { .string($0) })),
                        ("apps", .array(apps.map { .string($0) })),
                        ("created", instant(record.created)), ("expires", instant(record.expires)),
                        ("state", .string(state(record))),
                        ("certificate", certificate.map { .string($0) } ?? .null),
                    ]))
                continue
            }
            func day(_ milliseconds: Int64, _ none: String) -> Table.Cell {
                .init(milliseconds == 0 ? none : String(KeyInstant.text(milliseconds).prefix(10)))
            }
            table.add([
                .init(record.id), .init(record.name),
                .init(record.roles.names.joined(separator: ",")),
                .init(apps.isEmpty ? "all" : apps.joined(separator: ",")),
                day(record.created, "-"), day(record.expires, "never"), .init(state(record)),
                .init(certificate ?? "key"),
            ])
        }
        if !invocation.isJSON { invocation.console.print(table.lines()) }
        return .success
    }

    @Sendable private static func runRevoke(
        _ invocation: Invocation
    ) throws(CommandFailure) -> ExitStatus {
        let (path, id) = (path(invocation), invocation.operands[0])
        guard let known = try read(path).records.first(where: { $0.id == id }) else {
            throw CommandFailure(
                .notFound, "\(path): no record has the id `\(id)`",
                hint: "`entitlectl key list` shows them")
        }
        try confirm(known, invocation)
        try SystemCalls.locking(path) { () throws(CommandFailure) in
            var file = try read(path)
            guard file.revoke(id: id) != nil else {
                throw CommandFailure(.notFound, "\(path): no record has the id `\(id)` any more")
            }
            try SystemCalls.replaceFile(path, Array(file.text.utf8))
        }
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("id", .string(id)), ("name", .string(known.name)), ("revoked", .boolean(true)),
                ]))
        } else {
            invocation.console.print(Line("\(id) (\(known.name)) is revoked"))
            invocation.console.note(
                "a running server takes that up within a minute, or at once on SIGHUP")
        }
        return .success
    }

    private static func confirm(
        _ record: KeyRecord, _ invocation: Invocation
    ) throws(CommandFailure) {
        if invocation.has("yes") || record.isRevoked { return }
        guard SystemCalls.canAsk else {
            throw CommandFailure(.usage, "nobody can be asked here: say --yes")
        }
        invocation.console.alwaysNote([
            "Whoever uses \(record.id) (\(record.name)) will be refused. Revoke it? [y/N]"
        ])
        let answer = readLine() ?? ""
        guard answer == "y" || answer == "yes" else {
            throw CommandFailure(.failed, "nothing was changed")
        }
    }
}
