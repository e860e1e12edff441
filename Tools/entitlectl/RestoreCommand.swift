internal import Backup
internal import Storage
internal import ToolSupport

/// `restore`: makes a data directory of a backup.
enum RestoreCommand {
    static let command = Command(
        words: ["restore"], operands: ["DIR"],
        flags: [.value("to", "DIR", "the data directory to be made: new, or empty")],
        summary: "make a data directory of a backup on this machine",
        details: [
            "Every file is copied and compared with the manifest on the way; what is damaged or of",
            "a newer release is refused, and nothing is left in the target. Start a server on it",
            "with `entitled --data DIR`, as the user who owns the directory.",
            "JSON: directory, revision, version, created, files, bytes.",
        ],
        examples: [
            (
                "entitlectl restore /var/backups/entitled/20260308T100005Z --to /var/lib/entitled",
                "after the disk was lost"
            )
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        guard let target = invocation.value("to") else {
            throw CommandFailure(.usage, "`restore` needs --to DIR")
        }
        let progress = Progress(console: invocation.console, noun: "MiB")
        var restore = BackupRestore(from: invocation.operands[0], to: target)
        restore.onProgress = { done, total in
            progress.update(done: Int(done >> 20), total: Int(total >> 20))
        }
        let manifest = try onBackup { () throws(BackupError) in try restore.run() }
        progress.erase()
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("directory", .string(target)), ("revision", .natural(manifest.revision)),
                    ("version", .string(manifest.version)),
                    ("created", .string(manifest.createdText)),
                    ("files", .integer(Int64(manifest.files.count))),
                    ("bytes", .natural(manifest.byteCount)),
                ]))
        } else {
            invocation.console.print(
                Table.pairs([
                    ("restored to", .init(target, .bold)),
                    ("revision", .init("\(manifest.revision)")),
                    ("of", .init(manifest.createdText)), ("release", .init(manifest.version)),
                ]))
            invocation.console.note("start a server on it: entitled --data \(target)")
        }
        return .success
    }
}

extension CommandFailure {
    /// What a store that cannot be opened or read means for the exit code.
    init(_ error: StorageError) {
        switch error {
        case .cannotOpen(let directory, let message),
            .foreignDirectory(let directory, let message):
            self.init(.notFound, "\(directory): \(message)")
        case .locked(let directory, let message):
            self.init(
                .conflict, "\(directory) is in use: \(message)",
                hint: "stop the server, or look at a backup of it")
        case .noPermission(let directory, let message):
            self.init(.unauthenticated, "\(directory) may not be read: \(message)")
        case .newerFormat(let directory, let found, let supported):
            self.init(
                .damaged,
                "\(directory) has data of format \(found), written by a newer release; this one "
                    + "reads up to \(supported)")
        case .damaged(let message): self.init(.damaged, message)
        case .corruptRecord(let keyspace, let message):
            self.init(.damaged, "\(keyspace.rawValue): \(message)")
        case .unavailable(let message): self.init(.failed, message)
        }
    }
}
