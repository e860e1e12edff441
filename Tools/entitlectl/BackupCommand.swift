internal import Backup
internal import EntitledClient
internal import Entitlements
internal import ToolSupport

/// `backup create`: has the server make a backup on its own disk.
enum BackupCommand {
    /// Between two questions how it goes on.
    private static let interval = Duration.milliseconds(200)

    static let create = Command(
        words: ["backup", "create"], operands: ["DIR?"],
        flags: [.toggle("no-wait", "return when it has begun")],
        summary: "have the server back its data up, while it serves",
        details: [
            "DIR is a name below the server's backup.dir, or that directory and a name; without it",
            "the server makes a name of the time. What was answered before is in the backup.",
            "Tables are hard links where the file system allows it: copy backups elsewhere.",
            "JSON: name, path, complete, revision, files, bytes, created, durationMilliseconds.",
        ],
        examples: [
            ("entitlectl backup create", "one more"),
            ("entitlectl backup create before-upgrade", "one with a name"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let name = invocation.operands.first ?? ""
        var state = try await invocation.withClient { (client) throws(ClientError) in
            try await client.createBackup(name: name)
        }
        let progress = Progress(console: invocation.console, noun: "MiB")
        while !state.isComplete, !invocation.has("no-wait") {
            // A sleep that is cut short asks the sooner.
            try? await Task.sleep(for: interval)
            let begun = state.name
            state = try await invocation.withClient { (client) throws(ClientError) in
                try await client.backupProgress(of: begun)
            }
            progress.update(
                done: Int(state.doneByteCount >> 20), total: Int(state.byteCount >> 20))
        }
        progress.erase()
        if invocation.isJSON {
            invocation.console.print(json(state))
        } else {
            invocation.console.print(lines(state))
        }
        return .success
    }

    private static func lines(_ state: BackupProgress) -> [Line] {
        guard state.isComplete else {
            return [Line("begun ").adding(state.path, .bold)]
        }
        return Table.pairs([
            ("backup", .init(state.path, .bold)), ("revision", .init("\(state.revision)")),
            ("files", .init("\(state.fileCount)")), ("bytes", .init("\(state.byteCount)")),
            ("took", .init(TimeSpan.text(milliseconds: state.durationMilliseconds))),
        ])
    }

    private static func json(_ state: BackupProgress) -> JSONValue {
        .object([
            ("name", .string(state.name)), ("path", .string(state.path)),
            ("complete", .boolean(state.isComplete)), ("revision", .natural(state.revision)),
            ("files", .natural(state.fileCount)), ("bytes", .natural(state.byteCount)),
            ("created", .instant(state.createdAtMilliseconds)),
            ("durationMilliseconds", .natural(state.durationMilliseconds)),
        ])
    }
}

// MARK: - Backups at hand

/// `backup list`, `backup prune`: the backups of a directory on this machine.
enum BackupShelfCommand {
    static let list = Command(
        words: ["backup", "list"], operands: ["DIR"], flags: [],
        summary: "the backups of a directory on this machine",
        details: [
            "Nothing is read but manifests: `backup verify` compares the files.",
            "JSON, one object a line: name, path, state (complete, incomplete, unusable, foreign),",
            "created, revision, version, bytes, files, message.",
        ],
        examples: [("entitlectl backup list /var/backups/entitled", "what is there?")],
        body: { (invocation) throws(CommandFailure) in
            let entries = try onBackup { () throws(BackupError) in
                try BackupShelf(invocation.operands[0]).entries()
            }
            show(entries, invocation)
            return .success
        })

    static let prune = Command(
        words: ["backup", "prune"], operands: ["DIR"],
        flags: [
            .value("keep", "N", "so many complete backups stay; at least 1"),
            .toggle("dry-run", "say what would go, remove nothing"),
        ],
        summary: "remove old backups",
        details: [
            "Complete backups count only. What was broken off before the newest of them goes too;",
            "the newest complete one never does, nor does what is no backup or cannot be used.",
            "JSON as of `backup list`: what was removed.",
        ],
        examples: [
            ("entitlectl backup prune /var/backups/entitled --keep 7", "the last seven stay")
        ],
        body: { (invocation) throws(CommandFailure) in
            guard let count = try invocation.number("keep", in: 1...1_000_000) else {
                throw CommandFailure(.usage, "`backup prune` needs --keep N")
            }
            let isDryRun = invocation.has("dry-run")
            let removed = try onBackup { () throws(BackupError) in
                try BackupShelf(invocation.operands[0]).prune(keeping: count, isDryRun: isDryRun)
            }
            show(removed, invocation)
            invocation.console.note(
                "\(removed.count) \(isDryRun ? "would be removed" : "removed")")
            return .success
        })

    private static func show(_ entries: [BackupShelf.Entry], _ invocation: Invocation) {
        if invocation.isJSON {
            for entry in entries { invocation.console.print(entry.json) }
            return
        }
        var table = Table([
            .text("backup"), .text("created"), .number("revision"), .number("bytes"),
            .text("release"), .text("state"),
        ])
        for entry in entries {
            let manifest = entry.state.manifest
            table.add([
                .init(entry.name, .bold), .instant(entry.milliseconds),
                .init(manifest.map { "\($0.revision)" } ?? ""),
                .init(manifest.map { "\($0.byteCount)" } ?? ""), .init(manifest?.version ?? ""),
                .init(entry.state.name, manifest == nil ? .bad : .good),
            ])
        }
        invocation.console.print(table.lines())
    }
}

extension BackupShelf.State {
    fileprivate var manifest: BackupManifest? {
        if case .complete(let manifest) = self { manifest } else { nil }
    }

    fileprivate var name: String {
        switch self {
        case .complete: "complete"
        case .incomplete: "incomplete"
        case .unusable: "unusable"
        case .foreign: "foreign"
        }
    }
}

extension BackupShelf.Entry {
    fileprivate var json: JSONValue {
        let manifest = state.manifest
        var message = ""
        if case .unusable(let text) = state { message = text }
        return .object([
            ("name", .string(name)), ("path", .string(path)), ("state", .string(state.name)),
            ("created", .instant(milliseconds)),
            ("revision", manifest.map { .natural($0.revision) } ?? .null),
            ("version", manifest.map { .string($0.version) } ?? .null),
            ("bytes", manifest.map { .natural($0.byteCount) } ?? .null),
            ("files", manifest.map { .integer(Int64($0.files.count)) } ?? .null),
            ("message", .optional(message)),
        ])
    }
}

/// Runs what reads or makes backups, and says in the tool's terms what failed.
func onBackup<Value>(
    _ body: () throws(BackupError) -> Value
) throws(CommandFailure) -> Value {
    do throws(BackupError) {
        return try body()
    } catch {
        switch error {
        case .damaged: throw CommandFailure(.damaged, error.message)
        case .newerFormat: throw CommandFailure(.damaged, error.message)
        case .noBackup: throw CommandFailure(.notFound, error.message)
        case .targetUnusable, .running, .exists: throw CommandFailure(.conflict, error.message)
        case .storage(let error): throw CommandFailure(error)
        case .invalidName, .file, .stopped: throw CommandFailure(.failed, error.message)
        }
    }
}
