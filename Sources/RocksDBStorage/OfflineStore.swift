internal import RocksDB
package import Storage

/// A store on disk that nobody uses, opened to be looked at: nothing on disk is changed. A data
/// directory is locked against servers meanwhile; a backup, which has no lock, must be left alone.
///
/// Safe from any thread. Closes when the last reference goes.
package final class OfflineStore: EntitlementWriter, Sendable {
    /// The format of the data; see `storageFormatVersion`.
    package let format: UInt64
    /// Sentences on unfinished records at the end of the log, which were left out: a crash leaves
    /// such, and they were never acknowledged.
    package let unfinished: [String]
    private let database: Database
    private let lock: LockBox

    /// Holds the lock of a data directory as long as it lives.
    private final class LockBox: Sendable {
        private let lock: DirectoryLock?
        init(_ lock: consuming DirectoryLock?) { self.lock = lock }
    }

    /// Opens the store in `directory`.
    ///
    /// - Throws: `.locked` while a server uses it, `.newerFormat`, `.foreignDirectory` where no
    ///   finished store is, `.damaged`, `.noPermission`, `.unavailable`.
    package init(
        directory: String, options: StorageOptions = StorageOptions()
    ) throws(StorageError) {
        lock = LockBox(try StoreDirectory.lockForReading(directory))
        let opened = try StoreOpening.open(directory + "/store", .readOnly, options)
        database = opened.database
        unfinished = opened.unfinished
        format = try StoreOpening.storedFormat(of: database, directory)
        try StoreDirectory.checkFormat(format, directory)
    }

    /// The value under `key`, or nil.
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        try reading { () throws(RocksDBError) in
            try database.value(for: key, in: StoreOpening.family(of: keyspace))?.copy()
        }
    }

    /// Calls `body` on the records of the store.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        try reading { () throws(RocksDBError) in
            try RangeIterator.scan(
                database, keyspace, prefix: prefix, from: start, reversed: reversed, body)
        }
    }

    /// Calls `body` on the records of the store, where they lie.
    package func walk(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Bool
    ) throws(StorageError) {
        try reading { () throws(RocksDBError) in
            try RangeIterator.walk(database, keyspace, prefix: prefix, from: start, body)
        }
    }

    /// Refuses: it is open to be read.
    package func commit(_ changes: ChangeSet) throws(StorageError) {
        throw .unavailable(message: "the store is open to be looked at only")
    }

    private func reading<Result>(
        _ body: () throws(RocksDBError) -> Result
    ) throws(StorageError) -> Result {
        do throws(RocksDBError) {
            return try body()
        } catch { throw StorageError(reading: error) }
    }
}
