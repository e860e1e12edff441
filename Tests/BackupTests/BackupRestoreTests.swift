import FoundationEssentials
import RocksDBStorage
import Storage
import Testing

@testable import Backup

@Suite struct BackupRestoreTests {
    private func records(_ store: some EntitlementReader) throws -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        for keyspace in [Keyspace.meta, .payloads] {
            try store.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                found[Array(keyspace.rawValue.utf8) + key] = value
                return true
            }
        }
        return found
    }

    @Test func `a restored store opens with what was backed up`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let expected = try records(fixture.store)
        try fixture.put(revision: 8)
        let target = fixture.directory.appending("restored")
        let manifest = try BackupRestore(from: fixture.path("one"), to: target).run()
        #expect(manifest.revision == 7)
        let restored = try RocksDBStore(directory: target, options: .small)
        #expect(try records(restored) == expected)
        // It is a copy: what is written there changes nothing in the backup.
        var changes = ChangeSet()
        changes.put([1], for: [1], in: .audit)
        try restored.commit(changes)
        restored.close()
        #expect(try BackupCheck(fixture.path("one")).findings.isEmpty)
    }

    @Test func `no file of the target is a link to the backup`() throws {
        let fixture = try BackupFixture()
        let manifest = try fixture.make("one")
        let target = fixture.directory.appending("restored")
        _ = try BackupRestore(from: fixture.path("one"), to: target).run()
        for file in manifest.files {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: target + "/" + file.path)
            #expect(attributes[.referenceCount] as? Int == 1, "\(file.path)")
        }
    }

    @Test func `a directory with something in it is refused and stays`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let target = fixture.directory.appending("restored")
        try FileManager.default.createDirectory(
            atPath: target, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(filePath: target + "/notes"))
        #expect {
            _ = try BackupRestore(from: fixture.path("one"), to: target).run()
        } throws: {
            if case .targetUnusable? = $0 as? BackupError { true } else { false }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["notes"])
        try FileManager.default.removeItem(atPath: target + "/notes")
        _ = try BackupRestore(from: fixture.path("one"), to: target).run()
    }

    @Test(arguments: [".sst", ".log", "CURRENT", "FORMAT", "MANIFEST.json"])
    func `a damaged backup is refused and leaves nothing`(name: String) throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let isOutside = name == "FORMAT" || name == "MANIFEST.json"
        try fixture.damage(
            isOutside ? fixture.path("one") + "/" + name : fixture.file(name, of: "one"))
        let target = fixture.directory.appending("restored")
        #expect {
            _ = try BackupRestore(from: fixture.path("one"), to: target).run()
        } throws: {
            if case .damaged? = $0 as? BackupError { true } else { false }
        }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `data of a newer format are refused by both numbers`() throws {
        let fixture = try BackupFixture()
        var manifest = try fixture.make("one")
        manifest.storageFormat = 99
        try Data(manifest.text).write(to: URL(filePath: fixture.path("one") + "/MANIFEST.json"))
        let target = fixture.directory.appending("restored")
        #expect(
            throws: BackupError.newerFormat(
                path: fixture.path("one"), found: 99, supported: storageFormatVersion)
        ) { _ = try BackupRestore(from: fixture.path("one"), to: target).run() }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `without a parent nothing is made`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let target = fixture.directory.appending("a/b")
        #expect(throws: BackupError.self) {
            _ = try BackupRestore(from: fixture.path("one"), to: target).run()
        }
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.appending("a")))
    }
}
