internal import RocksDB
package import Storage

// RocksDB keeps what was replaced or removed until the files with it are written anew:
//
//   the log        goes when every family has moved what it holds into tables
//   tables         lose it when they are compacted down to the oldest of them
//   the manifest   names the first and last key of tables; each change of tables begins a new one,
//                  which still begins with the tables before that change

extension RocksDBStore {
    /// Removes from the disk what was replaced or removed under `ranges` before the call.
    ///
    /// Only tables with keys between the ends of a range are written anew, and what is above them
    /// in their family: some 256 MB at most. A scan that is under way holds the files that it reads
    /// until it ends.
    ///
    /// - Throws: `.unavailable`, also while the store takes no writes; `.damaged`.
    package func erase(_ ranges: [KeyRange]) throws(StorageError) {
        // One family after the other: commits go on between, and their new log has no part in it.
        for keyspace in Keyspace.allCases {
            try erasing { (database) throws(RocksDBError) in
                try database.flush(StoreOpening.family(of: keyspace))
            }
        }
        for range in ranges {
            try erasing { (database) throws(RocksDBError) in
                database.compact(
                    StoreOpening.family(of: range.keyspace), from: range.first, to: range.last)
            }
        }
        // The last manifest begins with tables that are gone: one table more begins the next.
        var nothing = ChangeSet()
        nothing.delete(Key.erasures, in: .meta)
        try commit(nothing)
        try erasing { (database) throws(RocksDBError) in
            try database.flush(StoreOpening.family(of: .meta))
        }
    }

    private func erasing(
        _ body: (Database) throws(RocksDBError) -> Void
    ) throws(StorageError) {
        guard isWritable else {
            throw .unavailable(message: "the store takes no writes; try again when it does")
        }
        try current.withReading { (current) throws(StorageError) in
            guard case .open(let database) = current else {
                throw .unavailable(message: "the store is not open for writing")
            }
            do throws(RocksDBError) {
                try body(database)
            } catch { throw StorageError(reading: error) }
        }
    }
}
