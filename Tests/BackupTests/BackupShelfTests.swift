import Entitlements
import FoundationEssentials
import Testing

@testable import Backup

@Suite struct BackupShelfTests {
    private func states(_ fixture: BackupFixture) throws -> [String: String] {
        try BackupShelf(fixture.root).entries().reduce(into: [:]) { states, entry in
            states[entry.name] =
                switch entry.state {
                case .complete: "complete"
                case .incomplete: "incomplete"
                case .unusable: "unusable"
                case .foreign: "foreign"
                }
        }
    }

    /// Six directories of every kind; `d` is the newest complete one.
    private func shelf() throws -> BackupFixture {
        let fixture = try BackupFixture()
        for (index, name) in ["c", "b", "d"].enumerated() {
            try fixture.make(name, minutes: Int64(index))
        }
        try fixture.make("broken")
        try FileManager.default.removeItem(atPath: fixture.path("broken") + "/MANIFEST.json")
        try fixture.make("unusable")
        try fixture.damage(fixture.path("unusable") + "/MANIFEST.json")
        try FileManager.default.createDirectory(
            atPath: fixture.path("photos"), withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(filePath: fixture.path("photos") + "/a.jpeg"))
        return fixture
    }

    /// Says that a directory was last changed before noon.
    private func age(_ path: String) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
    }

    @Test func `each directory is what it is, the oldest first`() throws {
        let fixture = try shelf()
        #expect(
            try states(fixture) == [
                "b": "complete", "c": "complete", "d": "complete", "broken": "incomplete",
                "unusable": "unusable", "photos": "foreign",
            ])
        let names = try BackupShelf(fixture.root).entries().map(\.name)
        #expect(names.filter { $0.count == 1 } == ["c", "b", "d"])
        #expect(
            try BackupShelf(fixture.root).newest()?.createdAt.milliseconds
                == BackupFixture.noon.milliseconds + 120_000)
    }

    @Test func `the newest complete ones stay, and so does what is no backup`() throws {
        let fixture = try shelf()
        try age(fixture.path("broken"))
        let removed = try BackupShelf(fixture.root).prune(keeping: 2, isDryRun: false)
        #expect(removed.map(\.name) == ["broken", "c"])
        #expect(Set(try states(fixture).keys) == ["b", "d", "unusable", "photos"])
        #expect(try BackupCheck(fixture.path("d")).findings.isEmpty)
    }

    @Test func `backups of a clock that was ahead do not push out those made after it`() throws {
        let fixture = try BackupFixture()
        for (index, name) in ["far1", "far2"].enumerated() {
            try fixture.make(name, minutes: 600_000 + Int64(index))
        }
        try fixture.put(revision: 8)
        try fixture.make("right", minutes: 0)
        let removed = try BackupShelf(fixture.root).prune(keeping: 1, isDryRun: false)
        #expect(removed.map(\.name) == ["far1"])
        #expect(Set(try states(fixture).keys) == ["far2", "right"])
    }

    @Test func `what was broken off after the newest one stays`() throws {
        let fixture = try shelf()
        let removed = try BackupShelf(fixture.root).prune(keeping: 1, isDryRun: false)
        #expect(removed.map(\.name) == ["c", "b"])
        #expect(try states(fixture)["broken"] == "incomplete")
    }

    @Test func `a dry run removes nothing`() throws {
        let fixture = try shelf()
        #expect(try BackupShelf(fixture.root).prune(keeping: 1, isDryRun: true).count == 2)
        #expect(try states(fixture).count == 6)
    }

    @Test func `without a complete one nothing goes`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        try FileManager.default.removeItem(atPath: fixture.path("one") + "/MANIFEST.json")
        try age(fixture.path("one"))
        #expect(try BackupShelf(fixture.root).prune(keeping: 1, isDryRun: false).isEmpty)
        #expect(try states(fixture) == ["one": "incomplete"])
    }

    @Test func `nothing is removed while a backup is made`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let lock = try BackupMaker.lock(fixture.root)
        #expect {
            _ = try BackupShelf(fixture.root).prune(keeping: 1, isDryRun: false)
        } throws: {
            if case .running? = $0 as? BackupError { true } else { false }
        }
        withExtendedLifetime(lock) {}
    }
}
