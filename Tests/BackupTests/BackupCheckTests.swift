import FoundationEssentials
import Testing

@testable import Backup

@Suite struct BackupCheckTests {
    @Test(arguments: [".sst", ".log", "CURRENT"])
    func `a changed byte is found with its file`(suffix: String) throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let path = try fixture.file(suffix, of: "one")
        try fixture.damage(path)
        let findings = try BackupCheck(fixture.path("one")).findings
        #expect(findings.map(\.file) == ["store/" + path.split(separator: "/").last!])
        #expect(findings[0].expected.contains("SHA-256") && findings[0].found.contains("SHA-256"))
    }

    @Test func `a missing, a longer and a strange file are found`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let table = try fixture.file(".sst", of: "one")
        try FileManager.default.removeItem(atPath: table)
        let current = try fixture.file("CURRENT", of: "one")
        try FileManager.default.removeItem(atPath: current)
        try Data("MANIFEST-000001 and more\n".utf8).write(to: URL(filePath: current))
        try Data().write(to: URL(filePath: fixture.path("one") + "/store/999999.log"))
        let findings = try BackupCheck(fixture.path("one")).findings
        #expect(findings.count == 3)
        #expect(findings.contains { $0.file == "store/999999.log" && $0.found == "one" })
        #expect(findings.contains { $0.file == "store/CURRENT" && $0.found.contains("bytes") })
    }

    @Test func `a file that became a link is found`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        let table = try fixture.file(".sst", of: "one")
        try FileManager.default.moveItem(
            atPath: table, toPath: fixture.directory.appending("table"))
        try FileManager.default.createSymbolicLink(
            atPath: table, withDestinationPath: fixture.directory.appending("table"))
        #expect(try BackupCheck(fixture.path("one")).findings.count == 1)
    }

    @Test func `without a manifest it is no backup`() throws {
        let fixture = try BackupFixture()
        try fixture.make("one")
        try FileManager.default.removeItem(atPath: fixture.path("one") + "/MANIFEST.json")
        #expect {
            _ = try BackupCheck(fixture.path("one"))
        } throws: {
            if case .noBackup? = $0 as? BackupError { true } else { false }
        }
    }
}
