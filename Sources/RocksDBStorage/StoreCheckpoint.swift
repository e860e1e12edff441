internal import RocksDB
package import Storage

extension RocksDBStore {
    /// Calls `body` with the database for what changes its files and not what is in it, while
    /// commits go on.
    ///
    /// - Throws: `.unavailable` while the store takes no writes; what `body` throws.
    func withWritableDatabase(
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

    /// Makes a copy of the store in `directory`, which is there and empty: laid out as a data
    /// directory, but for the lock. Reads and commits go on; all that was committed before the
    /// call is in it, and of what is committed meanwhile some, in the order of revisions.
    ///
    /// Tables are hard links where the file system allows it.
    ///
    /// - Throws: `.unavailable`, also while the store takes no writes.
    package func makeCheckpoint(in directory: String) throws(StorageError) {
        try withWritableDatabase { (database) throws(RocksDBError) in
            try database.checkpoint(at: directory + "/store")
        }
        let format = Array(StoreDirectory.formatText.utf8)
        try onFiles(of: directory) { () throws(FileError) in
            try Files.replace(directory + "/FORMAT", with: format)
        }
    }
}
