internal import RocksDB
package import Storage

/// Makes a store out of whole, sorted tables: for populations of millions, which one commit after
/// the other would take hours for.
///
/// Nobody else may use the directory meanwhile; it is locked as a server locks it. Until `finish`
/// the directory is no finished store: a load that was broken off leaves what no server opens, and
/// only removing the directory helps. Any thread may ask for tables and fill them, each its own.
package final class StoreLoader: Sendable {
    private let directory: String
    private let place: StoreDirectory
    private let database: Database
    private let options: StorageOptions

    /// Makes the directory, which must be new or empty; its parent exists.
    ///
    /// - Throws: `.foreignDirectory` when there is a store already, else what opening one throws.
    package init(
        directory: String, options: StorageOptions = StorageOptions()
    ) throws(StorageError) {
        let place = try StoreDirectory(directory)
        guard !place.hasDatabase, !place.isFinished else {
            throw .foreignDirectory(
                directory: directory, message: "it holds a store; tables go into a new one only")
        }
        let opened = try StoreOpening.open(place.databasePath, .create, options)
        _ = try StoreOpening.checkFormat(of: opened.database, directory)
        try onFiles(of: directory) { () throws(FileError) in
            try Files.makeDirectory(directory + "/" + Self.tableDirectory)
        }
        self.directory = directory
        self.place = place
        self.options = options
        database = opened.database
    }

    /// Where tables are before the database takes them in.
    private static let tableDirectory = "loading"

    /// A new table of `keyspace`; `name` is like that of no other one.
    package func table(of keyspace: Keyspace, named name: String) -> StoreTable {
        let path = "\(directory)/\(Self.tableDirectory)/\(keyspace.rawValue)-\(name).sst"
        return StoreTable(
            keyspace: keyspace,
            writer: TableFileWriter(
                path: path, options: StoreOpening.familyOptions(of: keyspace, options)))
    }

    /// Takes in tables, keyspace by keyspace, then writes `last` in one synced batch and marks the
    /// store as finished.
    ///
    /// - Parameters:
    ///   - tables: All that were finished. Those of one keyspace should not overlap: what does is
    ///     merged by the server later.
    ///   - last: The records that make the others count: numbers and counters.
    /// - Throws: `.unavailable`, `.damaged`; the directory is of no use then.
    package func finish(
        _ tables: [FinishedTable], last: ChangeSet
    ) throws(StorageError) {
        do throws(RocksDBError) {
            for keyspace in Keyspace.allCases {
                let paths = tables.filter { $0.keyspace == keyspace }.map(\.path)
                try database.adopt(paths, into: StoreOpening.family(of: keyspace))
            }
            try database.write(WriteBatch(last, of: database), synced: true)
        } catch {
            throw StorageError(reading: error)
        }
        try onFiles(of: directory) { () throws(FileError) in
            for table in tables { try Files.remove(table.path) }
            try Files.remove(directory + "/" + Self.tableDirectory)
        }
        try place.markFinished()
    }

    /// Bytes that the file system of `directory`, or of its parent, has free.
    ///
    /// - Throws: `.noPermission`, `.cannotOpen`, `.unavailable`.
    package static func freeByteCount(at directory: String) throws(StorageError) -> UInt64 {
        try onFiles(of: directory) { () throws(FileError) in
            let exists = try Files.entry(at: directory) != nil
            return try Files.freeByteCount(at: exists ? directory : Files.parent(of: directory))
        }
    }
}

/// A table that is being written; its records come in ascending order of their keys.
package struct StoreTable: ~Copyable {
    private let keyspace: Keyspace
    private var writer: TableFileWriter

    init(keyspace: Keyspace, writer: consuming TableFileWriter) {
        self.keyspace = keyspace
        self.writer = writer
    }

    /// Adds a record; its key is greater than that of the record before.
    ///
    /// - Throws: `.unavailable`, `.damaged` for a key out of order.
    package mutating func put(_ value: [UInt8], for key: [UInt8]) throws(StorageError) {
        do throws(RocksDBError) {
            try writer.put(value, for: key)
        } catch {
            throw StorageError(reading: error)
        }
    }

    /// Completes the file; nil when nothing was added.
    ///
    /// - Throws: `.unavailable`.
    package consuming func finish() throws(StorageError) -> FinishedTable? {
        let keyspace = keyspace
        do throws(RocksDBError) {
            return try writer.finish().map { FinishedTable(keyspace: keyspace, path: $0) }
        } catch {
            throw StorageError(reading: error)
        }
    }
}

/// A table that is written and not yet in a store.
package struct FinishedTable: Sendable {
    let keyspace: Keyspace
    let path: String
}
