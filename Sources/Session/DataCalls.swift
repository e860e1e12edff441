internal import Entitlements
internal import Service
internal import Wire

// What administrators ask of the data as a whole.

extension CallValidation {
    /// The longest path of a backup, in bytes: Linux takes 4,096.
    private static let pathByteCountMax = 4_096

    /// A backup to be begun, or one that was.
    ///
    /// - Throws: `Refusal` with INVALID_FIELD; APP_NOT_ALLOWED for whoever is limited to some apps,
    ///   as a backup holds all of them.
    func backup(_ message: Message.CreateBackupRequest) throws(Refusal) -> BackupRequest {
        if isLimited { throw .appNotAllowed }
        guard message.name.bytes.count <= Self.pathByteCountMax, let name = message.name.string
        else {
            throw Refusal(
                .invalidField, "name is longer than \(Self.pathByteCountMax) bytes, or not UTF-8")
        }
        return BackupRequest(name: name, isFollowUp: message.followUp)
    }
}

extension ReplyMapping {
    static func backup(_ status: BackupStatus) -> Message.CreateBackupResponse {
        var message = Message.CreateBackupResponse()
        message.name = Text(status.name)
        message.path = Text(status.path)
        message.complete = status.isComplete
        message.revision = status.revision
        message.files = UInt64(status.fileCount)
        message.bytes = status.byteCount
        message.bytesDone = status.doneByteCount
        message.createdAtMilliseconds = status.createdAt.milliseconds
        message.durationMilliseconds = status.durationMilliseconds
        return message
    }
}
