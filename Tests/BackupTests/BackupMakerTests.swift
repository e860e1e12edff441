import Entitlements
import FoundationEssentials
import RocksDBStorage
import Storage
import Synchronization
import Testing

@testable import Backup

@Suite struct BackupMakerTests {
    @Test func `a backup has the revision, and every file with its digest`() throws {
        let fixture = try BackupFixture()
        let manifest = try fixture.make("one")
        #expect(manifest.revision == 7 && manifest.storageFormat == storageFormatVersion)
        #expect(manifest.version == "1.2.3" && manifest.createdAt == BackupFixture.noon)
        #expect(try BackupManifest(of: fixture.path("one")) == manifest)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: fixture.path("one") + "/store")
        #expect(Set(manifest.files.map(\.path)) == Set(names.map { "store/" + $0 } + ["FORMAT"]))
        #expect(try BackupCheck(fixture.path("one")).findings.isEmpty)
    }

    @Test func `later commits leave a backup as it is`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        for revision in UInt64(8)..<30 { try fixture.put(revision: revision, byteCount: 200_000) }
        #expect(try BackupCheck(fixture.path("one")).findings.isEmpty)
        #expect(try fixture.make("two", minutes: 1).revision == 29)
    }

    @Test func `a name that is taken is refused and what is there stays`() throws {
        let fixture = try BackupFixture()
        let manifest = try fixture.make("one")
        #expect(throws: BackupError.exists(path: fixture.path("one"))) { try fixture.make("one") }
        #expect(try BackupManifest(of: fixture.path("one")) == manifest)
    }

    @Test func `a second one at once is refused`() throws {
        let fixture = try BackupFixture()
        var maker = fixture.maker
        let (root, other) = (fixture.root, fixture.maker)
        let refused = Atomic(0)
        maker.onProgress = { _, _, _ in
            do throws(BackupError) {
                _ = try other.make(
                    try BackupName("two", in: root), at: BackupFixture.noon, "")
            } catch {
                if case .running = error { refused.add(1, ordering: .relaxed) }
            }
        }
        _ = try maker.make(
            BackupName("one", in: root), at: BackupFixture.noon, BackupFixture.noonText)
        #expect(refused.load(ordering: .relaxed) > 0)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: root).contains("two"))
    }

    /// Whatever ends it before leaves no backup.
    @Test func `until all was read back there is no manifest`() throws {
        let fixture = try BackupFixture()
        var maker = fixture.maker
        let path = fixture.path("one") + "/" + BackupManifest.fileName
        let lookCount = Atomic(0)
        let earlyCount = Atomic(0)
        maker.onProgress = { _, _, _ in
            lookCount.add(1, ordering: .relaxed)
            if FileManager.default.fileExists(atPath: path) {
                earlyCount.add(1, ordering: .relaxed)
            }
        }
        _ = try maker.make(
            BackupName("one", in: fixture.root), at: BackupFixture.noon, BackupFixture.noonText)
        #expect(lookCount.load(ordering: .relaxed) > 0)
        #expect(earlyCount.load(ordering: .relaxed) == 0)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `one that is stopped leaves nothing`() throws {
        let fixture = try BackupFixture()
        var maker = fixture.maker
        maker.isStopping = { true }
        #expect(throws: BackupError.stopped) {
            try maker.make(BackupName("one", in: fixture.root), at: BackupFixture.noon, "")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.root) == ["LOCK"])
    }

    @Test func `a store that takes no writes makes none`() throws {
        let fixture = try BackupFixture()
        fixture.store.close()
        #expect(throws: BackupError.self) { try fixture.make("one") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.root) == ["LOCK"])
    }

    @Test func `a directory without a parent is an error and not made`() throws {
        let fixture = try BackupFixture()
        let maker = BackupMaker(
            store: fixture.store, root: fixture.directory.appending("a/b"), version: "1")
        #expect(throws: BackupError.self) {
            try maker.make(BackupName("one", in: maker.root), at: BackupFixture.noon, "")
        }
    }
}
