internal import RocksDB
internal import Storage

/// The directory of a store, held against everybody else for as long as this lives.
///
/// | name | what |
/// | --- | --- |
/// | `ACKNOWLEDGED` | how far the data reached when a change was last acknowledged |
/// | `FORMAT` | "entitled data format N": readable without RocksDB, so an older release can refuse
/// |
/// | `LOCK` | the lock file; carries the holder's process id |
/// | `store/` | the RocksDB database |
///
/// `FORMAT` is written last when a store is made, so a directory without it was never used.
struct StoreDirectory: ~Copyable, Sendable {
    /// The format that this release writes.
    static let formatVersion = storageFormatVersion

    private static let formatPrefix = "entitled data format "
    /// What may stand beside the database before `FORMAT` is written.
    private static let namesBeforeFormat: Set = [
        AcknowledgedMark.fileName, "FORMAT.new", "LOCK", "lost+found", "store",
    ]
    /// How the names of files begin that RocksDB makes before a database exists.
    private static let prefixesBeforeDatabase = ["LOCK", "LOG", "IDENTITY", "MANIFEST", "OPTIONS"]

    /// The directory as the operator named it.
    let path: String
    /// Whether it holds a finished store.
    let isFinished: Bool
    /// Whether it holds a database, finished or not.
    let hasDatabase: Bool
    private let lock: DirectoryLock

    /// The directory of the database.
    var databasePath: String { path + "/store" }

    /// Makes the directory when only its parent exists, checks what it holds, and takes the lock.
    /// Everything that can be refused is refused before anything is written.
    init(_ path: String) throws(StorageError) {
        try Self.makeIfMissing(path)
        _ = try Self.inspect(path)
        let lock = try Self.takeLock(path)
        // Again, now that nobody else can be making a store here.
        let found = try Self.inspect(path)
        self.lock = lock
        self.path = path
        isFinished = found.isFinished
        hasDatabase = found.hasDatabase
    }

    /// Marks the store as made; after this an empty database is damage, not a beginning.
    borrowing func markFinished() throws(StorageError) {
        let file = path + "/FORMAT"
        try onFiles(of: path) { () throws(FileError) in
            try Files.replace(file, with: Array(Self.formatText.utf8))
        }
    }

    /// What `FORMAT` says of data that this release writes.
    static var formatText: String { formatPrefix + "\(formatVersion)\n" }

    /// Takes the lock of a finished store that is only to be read; nil where there is none, as in
    /// a backup. Nothing is made.
    ///
    /// - Throws: `.locked`, `.foreignDirectory`, `.newerFormat`, `.damaged`, `.noPermission`.
    static func lockForReading(_ path: String) throws(StorageError) -> DirectoryLock? {
        let entry = try onFiles(of: path) { () throws(FileError) in try Files.entry(at: path) }
        guard entry == .directory else {
            throw .cannotOpen(directory: path, message: "there is no such directory")
        }
        guard try inspect(path, isReadOnly: true).isFinished else {
            throw .foreignDirectory(directory: path, message: "it holds no finished store")
        }
        let hasLock = try onFiles(of: path) { () throws(FileError) in
            try Files.entry(at: path + "/LOCK") != nil
        }
        return hasLock ? try takeLock(path) : nil
    }

    private static func makeIfMissing(_ path: String) throws(StorageError) {
        let entry = try onFiles(of: path) { () throws(FileError) in try Files.entry(at: path) }
        if entry == .directory { return }
        if entry != nil { throw .cannotOpen(directory: path, message: "it is not a directory") }
        let parent = Files.parent(of: path)
        let above = try onFiles(of: path) { () throws(FileError) in try Files.entry(at: parent) }
        guard above == .directory else {
            throw .cannotOpen(
                directory: path, message: "\(parent), where it should be made, is no directory")
        }
        try onFiles(of: path) { () throws(FileError) in
            try Files.makeDirectory(path)
            try Files.syncDirectory(parent)
        }
    }

    /// What the directory holds.
    ///
    /// - Throws: for everything that is not a store, or not one that this release can open.
    private static func inspect(
        _ path: String, isReadOnly: Bool = false
    ) throws(StorageError) -> (isFinished: Bool, hasDatabase: Bool) {
        let names = try onFiles(of: path) { () throws(FileError) in
            if !isReadOnly { try Files.checkAccess(to: path) }
            return Set(try Files.names(in: path))
        }
        let isFinished = names.contains("FORMAT")
        if isFinished {
            try checkFormat(path)
        } else if let foreign = names.subtracting(namesBeforeFormat).min() {
            throw .foreignDirectory(
                directory: path,
                message: "it holds \(foreign) and no FORMAT file; name an empty or a new directory")
        }
        guard names.contains("store") else {
            guard !isFinished else { throw .damaged(message: "\(path)/store is missing") }
            return (false, false)
        }
        return (
            isFinished,
            try inspectDatabase(path + "/store", isFinished: isFinished, isReadOnly: isReadOnly)
        )
    }

    /// Whether there is a database; RocksDB would make a new one over files that lost their
    /// `CURRENT`, so that is found here.
    private static func inspectDatabase(
        _ path: String, isFinished: Bool, isReadOnly: Bool
    ) throws(StorageError) -> Bool {
        let names = try onFiles(of: path) { () throws(FileError) in
            if !isReadOnly { try Files.checkAccess(to: path) }
            return try Files.names(in: path)
        }
        if names.contains("CURRENT") { return true }
        guard !isFinished else { throw .damaged(message: "\(path)/CURRENT is missing") }
        let foreign = names.filter { name in
            !prefixesBeforeDatabase.contains { name.hasPrefix($0) } && !name.hasSuffix(".dbtmp")
        }
        guard let first = foreign.min() else { return false }
        throw .foreignDirectory(
            directory: path, message: "it holds \(first), but no database that could be opened")
    }

    private static func checkFormat(_ path: String) throws(StorageError) {
        let bytes = try onFiles(of: path) { () throws(FileError) in
            try Files.read(path + "/FORMAT")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(formatPrefix), text.hasSuffix("\n"),
            let version = UInt64(text.dropFirst(formatPrefix.count).dropLast()), version > 0
        else {
            throw .damaged(message: "\(path)/FORMAT does not say which format the data have")
        }
        try checkFormat(version, path)
    }

    /// - Throws: when data of format `version` are from a newer release.
    static func checkFormat(_ version: UInt64, _ path: String) throws(StorageError) {
        guard version <= formatVersion else {
            throw .newerFormat(directory: path, found: version, supported: formatVersion)
        }
    }

    private static func takeLock(_ path: String) throws(StorageError) -> DirectoryLock {
        do {
            return try DirectoryLock(file: path + "/LOCK")
        } catch {
            guard error.kind == .locked else { throw StorageError(error, directory: path) }
            throw .locked(directory: path, message: holderMessage(path))
        }
    }

    private static func holderMessage(_ path: String) -> String {
        guard let holder = DirectoryLock.holder(of: path + "/LOCK") else {
            return "another process uses it"
        }
        return "process \(holder) uses it"
    }
}
