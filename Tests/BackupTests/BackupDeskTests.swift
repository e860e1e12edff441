import Entitlements
import FoundationEssentials
import RocksDBStorage
import Service
import Synchronization
import Testing

@testable import Backup

@Suite(.timeLimit(.minutes(1))) struct BackupDeskTests {
    private final class Notices: Sendable {
        private let list = Mutex<[BackupDesk.Notice]>([])
        var all: [BackupDesk.Notice] { list.withLock { $0 } }
        func add(_ notice: BackupDesk.Notice) { list.withLock { $0.append(notice) } }
    }

    private func desk(
        _ maker: BackupMaker, _ notices: Notices = Notices()
    ) -> BackupDesk {
        BackupDesk(
            maker, now: { BackupFixture.noon }, text: { _ in BackupFixture.noonText },
            onNotice: { notices.add($0) })
    }

    private func end(of name: String, _ desk: BackupDesk) async throws -> BackupStatus {
        while true {
            let status = try desk.handle(BackupRequest(name: name, isFollowUp: true))
            if status.isComplete { return status }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func reason(
        _ desk: BackupDesk, _ request: BackupRequest
    ) -> RefusalReason? {
        do throws(Refusal) {
            _ = try desk.handle(request)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a backup is begun at once and told of to its end`() async throws {
        let fixture = try BackupFixture()
        let notices = Notices()
        let desk = desk(fixture.maker, notices)
        defer { desk.stop() }
        let begun = try desk.handle(BackupRequest())
        #expect(begun.name == "20260301T000000Z" && !begun.isComplete)
        let status = try await end(of: begun.name, desk)
        #expect(status.revision == 7 && status.byteCount > 0 && status.fileCount > 3)
        #expect(status.doneByteCount == status.byteCount)
        #expect(desk.counts.lastSuccessAt == BackupFixture.noon)
        #expect(notices.all.count == 2 && notices.all[0] == .began(path: status.path))
        #expect(try BackupCheck(status.path).findings.isEmpty)
    }

    @Test func `what cannot be is refused with its reason`() async throws {
        let fixture = try BackupFixture()
        let desk = desk(fixture.maker)
        defer { desk.stop() }
        #expect(reason(desk, BackupRequest(name: "../x")) == .invalidField)
        #expect(reason(desk, BackupRequest(name: "x", isFollowUp: true)) == .unknownBackup)
        #expect(reason(desk, BackupRequest(name: "", isFollowUp: true)) == .invalidField)
        _ = try desk.handle(BackupRequest(name: "one"))
        _ = try await end(of: "one", desk)
        _ = try desk.handle(BackupRequest(name: "one"))
        while true {
            let found = reason(desk, BackupRequest(name: "one", isFollowUp: true))
            if found == .backupExists { break }
            #expect(found == nil)
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test func `a second one at once is refused, and stopping ends the first`() async throws {
        let fixture = try BackupFixture()
        var maker = fixture.maker
        // At this rate the table takes two seconds.
        maker.byteRateMax = 100_000
        let desk = desk(maker)
        _ = try desk.handle(BackupRequest(name: "one"))
        let second = reason(desk, BackupRequest(name: "two"))
        desk.stop()
        #expect(second == .backupRunning)
        #expect(reason(desk, BackupRequest(name: "three")) == .draining)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.root)
        #expect(!names.contains("two") && !names.contains("three"))
    }

    @Test func `after a restart the newest backup is known`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one", minutes: 3)
        #expect(
            desk(fixture.maker).counts.lastSuccessAt?.milliseconds
                == BackupFixture.noon.milliseconds + 180_000)
    }

    @Test func `a failure is told with its reason`() async throws {
        let fixture = try BackupFixture()
        fixture.store.close()
        let notices = Notices()
        let desk = desk(fixture.maker, notices)
        defer { desk.stop() }
        _ = try desk.handle(BackupRequest(name: "one"))
        while reason(desk, BackupRequest(name: "one", isFollowUp: true)) == nil {
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(
            reason(desk, BackupRequest(name: "one", isFollowUp: true)) == .storeUnavailable)
        #expect(desk.counts.lastSuccessAt == nil && notices.all.count == 2)
    }
}
