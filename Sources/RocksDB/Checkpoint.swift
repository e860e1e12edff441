internal import CRocksDB

extension Database {
    /// Makes a copy of the database in `directory`, which does not exist, as it is at some instant
    /// of this call: tables are hard links where the file system allows it, else copies, and so
    /// many bytes of the log are copied as were written.
    ///
    /// Writes go on meanwhile: one that is under way may end up as an unfinished record at the
    /// end of the copied log. Nothing is flushed, for a flush that fails breaks the database.
    ///
    /// - Throws: what RocksDB reports; the directory, or `directory.tmp`, may be there then.
    package func checkpoint(at directory: String) throws(RocksDBError) {
        guard !isBroken else {
            throw RocksDBError(
                operation: "make a checkpoint", message: "IO error: a write failed before")
        }
        let checkpoint = try unsafe throwing("make a checkpoint") {
            unsafe rocksdb_checkpoint_object_create(handle, $0)
        }
        guard let checkpoint = unsafe checkpoint else {
            throw RocksDBError(operation: "make a checkpoint", message: "it was not made")
        }
        defer { unsafe rocksdb_checkpoint_object_destroy(checkpoint) }
        try unsafe throwing("make a checkpoint") {
            unsafe rocksdb_checkpoint_create(checkpoint, directory, .max, $0)
        }
    }
}
