import Testing

@testable import Backup

@Suite struct BackupNameTests {
    @Test(arguments: [
        ("a", "a"), ("20260308T100005Z", "20260308T100005Z"), ("before-1.2_x", "before-1.2_x"),
        ("/var/backups/x", "x"), ("/var/backups/x/", "x"),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    ])
    func `a name or a path in the directory is taken`(text: String, name: String) throws {
        #expect(try BackupName(text, in: "/var/backups").text == name)
        #expect(try BackupName(text, in: "/var/backups/").text == name)
    }

    @Test(arguments: [
        "", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "a\0", "ä", "/", "/var/backups",
        "/var/backups/", "/var/backups/..", "/var/backups/../x", "/var/backups/a/b", "/etc/x",
        "/var/backupsx", "/var/backups//x/y", "x/../../etc", String(repeating: "a", count: 65),
    ])
    func `whatever could lead elsewhere is refused`(text: String) {
        #expect(throws: BackupError.self) { try BackupName(text, in: "/var/backups") }
    }

    @Test func `a time is a name`() {
        #expect(BackupName(time: "2026-03-08T10:00:05.123Z").text == "20260308T100005Z")
    }
}
