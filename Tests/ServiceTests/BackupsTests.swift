import Entitlements
import Service
import Testing

@Suite struct BackupsTests {
    @Test func `without a handler a backup is refused, with one it is asked`() throws {
        let none = try ServiceFixture()
        #expect {
            _ = try none.service.read(.backup(BackupRequest(name: "a")))
        } throws: {
            ($0 as? Refusal)?.reason == .backupNotConfigured
                && ($0 as? Refusal)?.status == .failedPrecondition
        }
        let status = BackupStatus(
            name: "a", path: "/b/a", createdAt: Timestamp(milliseconds: 1))
        let some = try ServiceFixture { configuration in
            configuration.backups = { (request) throws(Refusal) in
                guard request == BackupRequest(name: "a", isFollowUp: true) else {
                    throw Refusal(.unknownBackup, "")
                }
                return status
            }
        }
        #expect(
            try some.service.read(.backup(BackupRequest(name: "a", isFollowUp: true)))
                == .backup(status))
    }
}
