package import Entitlements
internal import RocksDB
package import RocksDBStorage
internal import Storage

/// Makes one backup of a store that serves: a checkpoint, read back, hashed, and then the manifest
/// that makes it a backup.
package struct BackupMaker: Sendable {
    /// The file that keeps a second backup of the same directory out.
    package static let lockName = "LOCK"

    /// What is backed up.
    package let store: RocksDBStore
    /// The directory of all backups; made when only its parent exists.
    package let root: String
    /// The release, for the manifest.
    package let version: String
    /// Bytes that are read back each second at most; 0: as fast as it goes.
    package var byteRateMax: UInt64 = 128 << 20
    /// Asked after each piece.
    package var isStopping: @Sendable () -> Bool = { false }
    /// Told after each piece how many bytes of how many are done, and in how many files.
    package var onProgress: @Sendable (UInt64, UInt64, Int) -> Void = { _, _, _ in }

    /// A maker.
    package init(store: RocksDBStore, root: String, version: String) {
        self.store = store
        self.root = root
        self.version = version
    }

    /// Makes a backup; blocking, for as long as reading the store takes.
    ///
    /// - Parameters:
    ///   - name: Of a directory that is not there yet.
    ///   - createdAt: Now.
    ///   - createdText: The same as RFC 3339.
    /// - Returns: What was written as its manifest.
    /// - Throws: `.running`, `.exists`, `.storage`, `.file`, `.stopped`; what was begun is removed
    ///   then, as far as that goes.
    package func make(
        _ name: BackupName, at createdAt: Timestamp, _ createdText: String
    ) throws(BackupError) -> BackupManifest {
        let lock = try Self.lock(root)
        defer { withExtendedLifetime(lock) {} }
        let path = root + "/" + name.text
        let isTaken = try onFiles { () throws(FileError) in try Files.entry(at: path) != nil }
        guard !isTaken else { throw .exists(path: path) }
        do throws(BackupError) {
            try onFiles { () throws(FileError) in try Files.makeDirectory(path) }
            return try fill(path, at: createdAt, createdText)
        } catch {
            try? Files.removeTree(path)
            throw error
        }
    }

    /// Takes the directory of all backups for one who changes it, making it where it is missing.
    ///
    /// - Throws: `.running`, `.file`.
    static func lock(_ root: String) throws(BackupError) -> BackupLock {
        try onFiles { () throws(FileError) in
            if try Files.entry(at: root) == nil {
                try Files.makeDirectory(root)
                try Files.syncDirectory(Files.parent(of: root))
            }
        }
        do throws(FileError) {
            return BackupLock(try DirectoryLock(file: root + "/" + lockName))
        } catch {
            guard error.kind == .locked else { throw .file(message: error.description) }
            throw .running(message: "another backup is being made or removed in \(root)")
        }
    }

    private func fill(
        _ path: String, at createdAt: Timestamp, _ createdText: String
    ) throws(BackupError) -> BackupManifest {
        let start = ContinuousClock.now
        try onStore { () throws(StorageError) in try store.makeCheckpoint(in: path) }
        let (revision, format) = try Self.revision(of: path)
        let files = try hashed(try Self.paths(in: path), in: path)
        let duration = (ContinuousClock.now - start).components
        let manifest = BackupManifest(
            storageFormat: format, version: version, revision: revision, createdAt: createdAt,
            createdText: createdText,
            durationMilliseconds: UInt64(
                duration.seconds * 1_000 + duration.attoseconds / 1_000_000_000_000_000),
            files: files)
        try onFiles { () throws(FileError) in
            try Files.syncDirectory(path + "/" + BackupManifest.storeDirectory)
            try Files.syncDirectory(path)
            try Files.syncDirectory(root)
            try Files.replace(path + "/" + BackupManifest.fileName, with: manifest.text)
        }
        return manifest
    }

    /// Opens the checkpoint: what does not open is no backup.
    private static func revision(of path: String) throws(BackupError) -> (UInt64, format: UInt64) {
        try onStore { () throws(StorageError) in
            var options = StorageOptions()
            options.cacheByteCount = 1 << 20
            let copy = try OfflineStore(directory: path, options: options)
            let bytes = try copy.value(for: Key.revision, in: .meta)
            let revision = try bytes.map { (bytes) throws(StorageError) in
                try RecordCodec.decodeNumber(bytes, in: .meta)
            }
            return (revision ?? 0, copy.format)
        }
    }

    private static func paths(in path: String) throws(BackupError) -> [String] {
        let names = try onFiles { () throws(FileError) in
            try Files.names(in: path + "/" + BackupManifest.storeDirectory)
        }
        let inStore = names.map { BackupManifest.storeDirectory + "/" + $0 }
        return ([BackupManifest.formatFile] + inStore).sorted()
    }

    private func hashed(
        _ paths: [String], in directory: String
    ) throws(BackupError) -> [BackupManifest.File] {
        var total: UInt64 = 0
        for path in paths {
            total += try onFiles { () throws(FileError) in
                try Files.byteCount(of: directory + "/" + path)
            }
        }
        var files: [BackupManifest.File] = []
        var done: UInt64 = 0
        var pace = CopyPace(byteRateMax: byteRateMax)
        for path in paths {
            let digest = try onFiles { () throws(FileError) in
                try FileDigest(of: directory + "/" + path) { piece in
                    done += UInt64(piece.count)
                    onProgress(done, total, paths.count)
                    pace.passed(piece.count)
                    return !isStopping()
                }
            }
            guard let digest else { throw .stopped }
            files.append(
                BackupManifest.File(path: path, size: digest.size, sha256: digest.sha256))
        }
        return files
    }
}

/// The right to change a directory of backups.
final class BackupLock: Sendable {
    private let lock: DirectoryLock
    init(_ lock: consuming DirectoryLock) { self.lock = lock }
}
