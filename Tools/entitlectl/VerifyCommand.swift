internal import Backup
internal import RocksDBStorage
internal import Service
internal import Storage
internal import ToolSupport

/// `verify`: reads every record of a data directory that no server uses.
///
/// This tool opens the store itself, as `restore` does: whoever has lost a server has no other one
/// to ask, and a backup elsewhere has none beside it.
enum VerifyCommand {
    private static let details = [
        "Every record is decoded and compared with what it follows from: snapshots with facts, as",
        "a rebuild makes them, facts with what Apple signed, whose signatures are checked again,",
        "each index with what it leads to. Nothing on the disk is changed. Exit code 65: damaged.",
        "JSON, one object a line: keyspace, key (hexadecimal), expected, found; at the end",
        "records, findings, revision.",
    ]

    static let data = Command(
        words: ["verify"], operands: ["DIR"], flags: [],
        summary: "read and compare every record of a data directory",
        details: details,
        examples: [("entitlectl verify /var/lib/entitled", "is everything as it should be?")],
        body: { (invocation) throws(CommandFailure) in
            try records(of: invocation.operands[0], invocation)
        })

    static let backup = Command(
        words: ["backup", "verify"], operands: ["DIR"],
        flags: [.toggle("deep", "read every record too, as `verify` does")],
        summary: "compare the files of a backup with its manifest",
        details: [
            "Sizes and SHA-256 of all files. JSON, one object a line: file, expected, found; at",
            "the end files, bytes, findings, revision; with --deep the lines of `verify` follow.",
        ],
        examples: [
            (
                "entitlectl backup verify --deep /var/backups/entitled/20260308T100005Z",
                "would it do?"
            )
        ],
        body: backup)

    @Sendable private static func backup(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let directory = invocation.operands[0]
        let console = invocation.console
        let progress = Progress(console: console, noun: "MiB")
        let check = try onBackup { () throws(BackupError) in
            try BackupCheck(directory) { done, total in
                progress.update(done: Int(done >> 20), total: Int(total >> 20))
            }
        }
        progress.erase()
        let manifest = check.manifest
        if invocation.isJSON {
            for finding in check.findings {
                console.print(
                    JSONValue.object([
                        ("file", .string(finding.file)), ("expected", .string(finding.expected)),
                        ("found", .string(finding.found)),
                    ]))
            }
            console.print(
                JSONValue.object([
                    ("files", .integer(Int64(manifest.files.count))),
                    ("bytes", .natural(manifest.byteCount)),
                    ("findings", .integer(Int64(check.findings.count))),
                    ("revision", .natural(manifest.revision)),
                ]))
        } else {
            console.print(check.findings.map { Line($0.description, .bad) })
            console.print(
                Line(
                    "\(manifest.files.count) files, \(manifest.byteCount) bytes, revision "
                        + "\(manifest.revision): "
                ).adding(
                    check.findings.isEmpty ? "as the manifest says" : "damaged",
                    check.findings.isEmpty ? .good : .bad))
        }
        guard check.findings.isEmpty else { return .damaged }
        return invocation.has("deep") ? try records(of: directory, invocation) : .success
    }

    private static func records(
        of directory: String, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitStatus {
        let progress = Progress(console: invocation.console, noun: "records")
        do throws(StorageError) {
            let store = try OfflineStore(directory: directory)
            guard store.format == storageFormatVersion else {
                throw StorageError.unavailable(
                    message: "\(directory) has data of format \(store.format): start this "
                        + "release's server on it once, which brings it to format "
                        + "\(storageFormatVersion), and verify it then")
            }
            let check = try StoreCheck(
                store, onFinding: { show($0, invocation, progress) },
                onProgress: { progress.update(done: $0, total: nil) })
            check.run()
            progress.erase()
            conclude(check, invocation)
            return check.findingCount == 0 ? .success : .damaged
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func show(
        _ finding: StoreFinding, _ invocation: Invocation, _ progress: Progress
    ) {
        progress.erase()
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("keyspace", .string(finding.keyspace.rawValue)),
                    ("key", .string(hexadecimal(finding.key))),
                    ("expected", .string(finding.expected)), ("found", .string(finding.found)),
                ]))
        } else {
            invocation.console.print(
                Line(finding.keyspace.rawValue, .bad)
                    .adding(" \(hexadecimal(finding.key)): expected \(finding.expected), ")
                    .adding("found \(finding.found)"))
        }
    }

    private static func conclude(
        _ check: StoreCheck<OfflineStore>, _ invocation: Invocation
    ) {
        let count = check.recordCounts.values.reduce(0, +)
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("records", .integer(Int64(count))),
                    ("findings", .integer(Int64(check.findingCount))),
                    ("revision", .natural(check.storedRevision)),
                ]))
        } else {
            let isWhole = check.findingCount == 0
            invocation.console.print(
                Line("\(count) records, revision \(check.storedRevision): ").adding(
                    isWhole ? "all as they should be" : "\(check.findingCount) findings",
                    isWhole ? .good : .bad))
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
