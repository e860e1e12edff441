internal import Wire

/// How far a backup on the server's disk has come.
public struct BackupProgress: Hashable, Sendable {
    /// Its name, by which to ask again.
    public var name: String
    /// Where it is, on the server.
    public var path: String
    /// Whether it is whole; before that it is none.
    public var isComplete: Bool
    /// The last revision in it; 0 = not known yet.
    public var revision: UInt64
    /// How many files it has.
    public var fileCount: UInt64
    /// Their bytes.
    public var byteCount: UInt64
    /// How many of them were read back and hashed.
    public var doneByteCount: UInt64
    /// When it was begun, milliseconds since 1970.
    public var createdAtMilliseconds: Int64
    /// Since then, or what it took.
    public var durationMilliseconds: UInt64
}

extension Client {
    /// Begins a backup on the server's own disk; returns at once.
    ///
    /// - Parameters:
    ///   - name: A name, or an absolute path in the server's `backup.dir`; empty: the server makes
    ///     one of the time.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Under which name to ask how it goes on.
    /// - Throws: `ClientError`; `.refused` with BACKUP_NOT_CONFIGURED, BACKUP_RUNNING or
    ///   INVALID_FIELD.
    public func createBackup(
        name: String = "", timeout: Duration? = nil
    ) async throws(ClientError) -> BackupProgress {
        try await backup(name, isFollowUp: false, timeout)
    }

    /// How a backup goes on that was asked for since the server started.
    ///
    /// - Parameters:
    ///   - name: As in the answer of `createBackup`.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: How far it is.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_BACKUP, and, where it failed, with
    ///   BACKUP_EXISTS, BACKUP_RUNNING, BACKUP_FAILED or STORE_UNAVAILABLE.
    public func backupProgress(
        of name: String, timeout: Duration? = nil
    ) async throws(ClientError) -> BackupProgress {
        try await backup(name, isFollowUp: true, timeout)
    }

    private func backup(
        _ name: String, isFollowUp: Bool, _ timeout: Duration?
    ) async throws(ClientError) -> BackupProgress {
        var request = Message.CreateBackupRequest()
        request.name = Text(name)
        request.followUp = isFollowUp
        let result = try await perform(
            .createBackup(request), timeout: timeout, isRepeatable: isFollowUp)
        guard case .createBackup(let response) = result else { throw .unasked }
        return BackupProgress(response)
    }
}

extension BackupProgress {
    init(_ message: Message.CreateBackupResponse) {
        name = message.name.description
        path = message.path.description
        isComplete = message.complete
        revision = message.revision
        fileCount = message.files
        byteCount = message.bytes
        doneByteCount = message.bytesDone
        createdAtMilliseconds = message.createdAtMilliseconds
        durationMilliseconds = message.durationMilliseconds
    }
}
