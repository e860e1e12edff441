import Backup
import Testing

@testable import entitled

@Suite struct BackupLogTests {
    @Test func `what becomes of a backup is a line of the log`() {
        #expect(
            LogRecord(BackupDesk.Notice.began(path: "/b/a"))
                == LogRecord(level: .info, message: "backup begun", fields: [.init("path", "/b/a")])
        )
        let finished = LogRecord(
            BackupDesk.Notice.finished(path: "/b/a", revision: 1, byteCount: 2, milliseconds: 3))
        #expect(finished.level == .info && finished.fields.contains(.init("revision", 1)))
        let failed = LogRecord(BackupDesk.Notice.failed(path: "/b/a", message: "disk full"))
        #expect(failed.level == .error && failed.fields.contains(.init("error", "disk full")))
    }
}
