internal import RocksDB
internal import Storage

/// Makes a data directory out of a backup: by copies, each compared with the manifest on the way,
/// never by links, so that the backup stays what it is.
package struct BackupRestore: Sendable {
    /// The backup.
    package let source: String
    /// The data directory to be made.
    package let target: String
    /// Told after each piece how many bytes of how many are done.
    package var onProgress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }

    /// A restore.
    package init(from source: String, to target: String) {
        self.source = source
        self.target = target
    }

    /// Copies, and puts everything on disk. `FORMAT` comes last: what was broken off is no store.
    ///
    /// - Returns: The manifest of what was restored.
    /// - Throws: `.noBackup`, `.damaged`, `.newerFormat`, `.targetUnusable`, `.file`; the target is
    ///   as before then, or what was made of it is removed.
    package func run() throws(BackupError) -> BackupManifest {
        let manifest = try BackupManifest(of: source)
        guard manifest.storageFormat <= storageFormatVersion else {
            throw .newerFormat(
                path: source, found: manifest.storageFormat, supported: storageFormatVersion)
        }
        let isMade = try prepareTarget()
        do throws(BackupError) {
            try copy(manifest)
        } catch {
            try? Files.removeTree(target + "/" + BackupManifest.storeDirectory)
            try? Files.remove(target + "/" + BackupManifest.formatFile)
            if isMade { try? Files.remove(target) }
            throw error
        }
        return manifest
    }

    /// Whether the directory was made; else it is there and empty.
    private func prepareTarget() throws(BackupError) -> Bool {
        let entry = try onFiles { () throws(FileError) in try Files.entry(at: target) }
        switch entry {
        case .other: throw .targetUnusable(path: target, message: "it is no directory")
        case .directory:
            let names = try onFiles { () throws(FileError) in try Files.names(in: target) }
            guard let first = names.filter({ $0 != "lost+found" }).min() else { return false }
            throw .targetUnusable(
                path: target, message: "it holds \(first); name an empty or a new directory")
        case nil:
            let parent = Files.parent(of: target)
            let above = try onFiles { () throws(FileError) in try Files.entry(at: parent) }
            guard above == .directory else {
                throw .targetUnusable(
                    path: target, message: "\(parent), where it should be made, is no directory")
            }
            try onFiles { () throws(FileError) in
                try Files.makeDirectory(target)
                try Files.syncDirectory(parent)
            }
            return true
        }
    }

    private func copy(_ manifest: BackupManifest) throws(BackupError) {
        let store = target + "/" + BackupManifest.storeDirectory
        try onFiles { () throws(FileError) in try Files.makeDirectory(store) }
        var done: UInt64 = 0
        let last = manifest.files.filter { $0.path == BackupManifest.formatFile }
        let first = manifest.files.filter { $0.path != BackupManifest.formatFile }
        for file in first + last {
            if file.path == BackupManifest.formatFile {
                try onFiles { () throws(FileError) in try Files.syncDirectory(store) }
            }
            try copy(file, &done, of: manifest.byteCount)
        }
        try onFiles { () throws(FileError) in try Files.syncDirectory(target) }
    }

    private func copy(
        _ file: BackupManifest.File, _ done: inout UInt64, of total: UInt64
    ) throws(BackupError) {
        let found: FileDigest?
        do throws(FileError) {
            var writing = try FileWriting(new: target + "/" + file.path)
            found = try FileDigest(of: source + "/" + file.path) { (piece) throws(FileError) in
                try writing.append(piece)
                done += UInt64(piece.count)
                onProgress(done, total)
                return true
            }
            try writing.finish()
        } catch {
            if error.kind == .notFound {
                throw .damaged([
                    BackupFinding(
                        file: file.path, expected: "\(file.size) bytes", found: error.description)
                ])
            }
            throw .file(message: error.description)
        }
        guard let found, found.size == file.size, found.sha256 == file.sha256 else {
            throw .damaged([
                BackupFinding(
                    file: file.path, expected: "\(file.size) bytes, SHA-256 \(file.sha256)",
                    found: found.map { "\($0.size) bytes, SHA-256 \($0.sha256)" } ?? "nothing")
            ])
        }
    }
}
