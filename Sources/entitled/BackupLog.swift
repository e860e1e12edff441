internal import Backup

extension LogRecord {
    /// The line of what an operator must see of backups.
    init(_ notice: BackupDesk.Notice) {
        switch notice {
        case .began(let path):
            self.init(level: .info, message: "backup begun", fields: [.init("path", path)])
        case .finished(let path, let revision, let byteCount, let milliseconds):
            self.init(
                level: .info, message: "backup complete",
                fields: [
                    .init("path", path), .init("revision", revision), .init("bytes", byteCount),
                    .init("ms", milliseconds),
                ])
        case .failed(let path, let message):
            self.init(
                level: .error, message: "backup failed",
                fields: [.init("path", path), .init("error", message)])
        }
    }
}
