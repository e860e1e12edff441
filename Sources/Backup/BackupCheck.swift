internal import RocksDB
internal import Storage

/// Compares a backup with its manifest.
package struct BackupCheck: Sendable {
    /// What the backup says of itself.
    package let manifest: BackupManifest
    /// Every file that is not what the manifest says.
    package let findings: [BackupFinding]

    /// Reads all of the backup in `directory`.
    ///
    /// - Parameters:
    ///   - directory: A backup.
    ///   - onProgress: Told after each piece how many bytes of how many are done.
    /// - Throws: `.noBackup`, `.damaged` for the manifest, `.newerFormat`, `.file`.
    package init(
        _ directory: String, onProgress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(BackupError) {
        let manifest = try BackupManifest(of: directory)
        var findings = try Self.strangers(in: directory, beside: manifest)
        var done: UInt64 = 0
        for file in manifest.files {
            if let finding = Self.finding(
                file, in: directory,
                onBytes: { count in
                    done += UInt64(count)
                    onProgress(done, manifest.byteCount)
                })
            {
                findings.append(finding)
            }
        }
        self.manifest = manifest
        self.findings = findings
    }

    /// Files that the manifest does not know: RocksDB would read a log among them.
    private static func strangers(
        in directory: String, beside manifest: BackupManifest
    ) throws(BackupError) -> [BackupFinding] {
        let known = Set(manifest.files.map(\.path))
        let store = BackupManifest.storeDirectory
        let path = directory + "/" + store
        let entry = try onFiles { () throws(FileError) in try Files.entry(at: path) }
        guard entry == .directory else {
            return [BackupFinding(file: store, expected: "a directory", found: "none")]
        }
        let names = try onFiles { () throws(FileError) in try Files.names(in: path) }
        return names.map { store + "/" + $0 }.filter { !known.contains($0) }.sorted().map {
            BackupFinding(file: $0, expected: "no such file", found: "one")
        }
    }

    private static func finding(
        _ file: BackupManifest.File, in directory: String, onBytes: (Int) -> Void
    ) -> BackupFinding? {
        do throws(FileError) {
            let read = try FileDigest(of: directory + "/" + file.path) { piece in
                onBytes(piece.count)
                return true
            }
            guard let found = read else { preconditionFailure("nobody stops it") }
            if found.size != file.size {
                return BackupFinding(
                    file: file.path, expected: "\(file.size) bytes", found: "\(found.size) bytes")
            }
            guard found.sha256 != file.sha256 else { return nil }
            return BackupFinding(
                file: file.path, expected: "SHA-256 \(file.sha256)",
                found: "SHA-256 \(found.sha256)")
        } catch {
            return BackupFinding(
                file: file.path, expected: "\(file.size) bytes", found: error.description)
        }
    }
}
