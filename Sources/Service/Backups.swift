package import Entitlements

/// Asks for a backup of the whole store, or how one that was asked for goes on.
package struct BackupRequest: Hashable, Sendable {
    /// What it is called: a name, or an absolute path whose last part is the name and whose rest
    /// is the configured directory; empty: the server makes a name of the time.
    package var name: String
    /// Whether it was asked for before: nothing is begun.
    package var isFollowUp: Bool

    /// A request.
    package init(name: String = "", isFollowUp: Bool = false) {
        self.name = name
        self.isFollowUp = isFollowUp
    }
}

/// How far a backup has come.
package struct BackupStatus: Hashable, Sendable {
    package var name: String
    /// On the server.
    package var path: String
    /// Whether it is whole: before that it is none.
    package var isComplete: Bool
    /// The last revision in it; 0 while that is not known.
    package var revision: UInt64
    package var fileCount: Int
    package var byteCount: UInt64
    /// How many of these bytes were read back and hashed.
    package var doneByteCount: UInt64
    /// When it was begun.
    package var createdAt: Timestamp
    /// Since then, or what it took.
    package var durationMilliseconds: UInt64

    /// A backup that was just begun.
    package init(name: String, path: String, createdAt: Timestamp) {
        self.name = name
        self.path = path
        self.createdAt = createdAt
        isComplete = false
        revision = 0
        fileCount = 0
        byteCount = 0
        doneByteCount = 0
        durationMilliseconds = 0
    }
}

/// What makes backups beside the service; returns at once, any thread.
///
/// - Throws: INVALID_FIELD, BACKUP_RUNNING, BACKUP_EXISTS, UNKNOWN_BACKUP, BACKUP_FAILED,
///   STORE_UNAVAILABLE.
package typealias BackupHandler = @Sendable (BackupRequest) throws(Refusal) -> BackupStatus

extension EntitlementService {
    /// Begins a backup or tells of one.
    ///
    /// - Throws: BACKUP_NOT_CONFIGURED, and what the handler throws.
    func backup(_ request: BackupRequest) throws(Refusal) -> BackupStatus {
        guard let handler = configuration.backups else {
            throw Refusal(
                .backupNotConfigured,
                "this server makes no backups: configure backup.dir, and restart it")
        }
        return try handler(request)
    }
}
