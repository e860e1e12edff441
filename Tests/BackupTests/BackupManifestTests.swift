import Entitlements
import FoundationEssentials
import Testing

@testable import Backup

@Suite struct BackupManifestTests {
    private static let manifest = BackupManifest(
        storageFormat: 2, version: "1.2.3", revision: 42,
        createdAt: Timestamp(milliseconds: 1_772_323_200_123),
        createdText: "2026-03-01T00:00:00.123Z", durationMilliseconds: 9,
        files: [
            .init(path: "FORMAT", size: 23, sha256: String(repeating: "a", count: 64)),
            .init(path: "store/000012.sst", size: 5, sha256: String(repeating: "b", count: 64)),
        ])

    @Test func `what is written is read`() throws {
        #expect(try BackupManifest(Self.manifest.text, "d") == Self.manifest)
        #expect(Self.manifest.byteCount == 28)
    }

    @Test func `every changed byte is found`() {
        let text = Self.manifest.text
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(throws: BackupError.self, "byte \(index)") {
                try BackupManifest(changed, "d")
            }
        }
    }

    @Test func `every shorter text is found`() {
        let text = Self.manifest.text
        for count in text.indices {
            #expect(throws: BackupError.self) { try BackupManifest(Array(text[..<count]), "d") }
        }
    }

    @Test(arguments: [
        "../x", "/etc/passwd", "store/../x", "store/a/b", "store/", "LOCK", "store", "",
        "store/.x",
    ])
    func `a path that leads elsewhere is refused`(path: String) {
        var manifest = Self.manifest
        manifest.files[1].path = path
        #expect(throws: BackupError.self) { try BackupManifest(manifest.text, "d") }
    }

    @Test func `a newer layout is told from damage`() throws {
        // Its checksum is right: a newer release wrote it.
        let old = String(decoding: Self.manifest.text, as: UTF8.self)
        let head = old.components(separatedBy: "  \"checksum\"")[0]
            .replacing("\"format\": 1", with: "\"format\": 9")
        let text = BackupManifest.text(withChecksum: Array(head.utf8))
        #expect(throws: BackupError.newerFormat(path: "d", found: 9, supported: 1)) {
            try BackupManifest(text, "d")
        }
    }
}
