internal import RocksDB
package import Storage

/// What can go wrong with a backup.
package enum BackupError: Error, Equatable, Sendable {
    /// The name is none.
    case invalidName(message: String)
    /// There is something of that name.
    case exists(path: String)
    /// Another backup of the same directory is being made, or its backups are being removed.
    case running(message: String)
    /// There is no complete backup at this place.
    case noBackup(path: String, message: String)
    /// What is there is not what the manifest says.
    case damaged([BackupFinding])
    /// A newer release made it.
    case newerFormat(path: String, found: UInt64, supported: UInt64)
    /// The directory to restore to is not empty, or cannot be made.
    case targetUnusable(path: String, message: String)
    /// The store failed.
    case storage(StorageError)
    /// A file could not be read or written.
    case file(message: String)
    /// Told to stop.
    case stopped

    /// For people: what failed and what to do.
    package var message: String {
        switch self {
        case .invalidName(let message), .running(let message), .file(let message): message
        case .exists(let path): "\(path) is there already; name another one"
        case .noBackup(let path, let message): "\(path) is no complete backup: \(message)"
        case .damaged(let findings):
            "the backup is damaged: " + (findings.first?.description ?? "it is not known where")
                + (findings.count > 1 ? ", and \(findings.count - 1) more" : "")
        case .newerFormat(let path, let found, let supported):
            "\(path) has format \(found), made by a newer release; this one reads up to "
                + "\(supported)"
        case .targetUnusable(let path, let message): "\(path) cannot be restored to: \(message)"
        case .storage(let error): "the store failed: \(error)"
        case .stopped: "the backup was given up because the server stops"
        }
    }
}

/// A file of a backup that is not what the manifest says.
package struct BackupFinding: Hashable, Sendable, CustomStringConvertible {
    /// Relative to the backup.
    package var file: String
    package var expected: String
    package var found: String

    package var description: String { "\(file): expected \(expected), found \(found)" }
}

/// Runs file operations in a context of `BackupError`.
func onFiles<Value>(
    _ body: () throws(FileError) -> Value
) throws(BackupError) -> Value {
    do throws(FileError) {
        return try body()
    } catch {
        throw .file(message: error.description)
    }
}

/// Runs what uses a store in a context of `BackupError`.
func onStore<Value>(
    _ body: () throws(StorageError) -> Value
) throws(BackupError) -> Value {
    do throws(StorageError) {
        return try body()
    } catch {
        throw .storage(error)
    }
}
