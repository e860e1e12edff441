// swift-format-ignore-file: NeverForceUnwrap
// RocksDB's constructors never return null: they allocate with `new`.
internal import CRocksDB

/// Writes one table file from records that come in ascending order of their keys, beside a database
/// and not in it; `Database.adopt` takes such files in whole.
///
/// That is how a store of millions is made: no log, no memtable, no compaction. Not thread-safe:
/// one owner. The file is made by the first `put`, for the library refuses a table without records.
@safe package struct TableFileWriter: ~Copyable {
    /// Where the file is written.
    package let path: String
    /// How many records it has.
    package private(set) var count = 0

    private let options: OptionsHandle
    private let environment: OpaquePointer
    private let handle: OpaquePointer

    /// A writer that has written nothing yet.
    ///
    /// - Parameters:
    ///   - path: Where the file is to be.
    ///   - options: Those of the column family that will take it.
    package init(path: String, options: FamilyOptions) {
        self.path = path
        // A cache is part of a family's options, but writing a table reads no block.
        self.options = OptionsHandle(options, cache: BlockCache(byteCount: 0))
        unsafe environment = rocksdb_envoptions_create()!
        unsafe handle = rocksdb_sstfilewriter_create(environment, self.options.handle)!
        LiveHandles.created(.tableFileWriter)
    }

    deinit {
        unsafe rocksdb_sstfilewriter_destroy(handle)
        unsafe rocksdb_envoptions_destroy(environment)
        LiveHandles.destroyed(.tableFileWriter)
    }

    /// Adds a record; its key is greater than that of the record before.
    ///
    /// - Throws: what RocksDB reports, also for a key out of order.
    package mutating func put(_ value: [UInt8], for key: [UInt8]) throws(RocksDBError) {
        if count == 0 {
            try unsafe throwing("make a table") {
                unsafe rocksdb_sstfilewriter_open(handle, path, $0)
            }
        }
        unsafe try key.withCharacters { (key, keyByteCount) throws(RocksDBError) in
            unsafe try value.withCharacters { (value, valueByteCount) throws(RocksDBError) in
                try unsafe throwing("add to a table") {
                    unsafe rocksdb_sstfilewriter_put(
                        handle, key, keyByteCount, value, valueByteCount, $0)
                }
            }
        }
        count += 1
    }

    /// Completes the file and syncs it; nothing can be added afterwards.
    ///
    /// - Returns: Its path; nil when no record was added, and so there is no file.
    /// - Throws: what RocksDB reports.
    package consuming func finish() throws(RocksDBError) -> String? {
        guard count > 0 else { return nil }
        try unsafe throwing("finish a table") { unsafe rocksdb_sstfilewriter_finish(handle, $0) }
        return path
    }
}

extension Database {
    /// Moves finished table files into `family`; their records are visible and durable together.
    ///
    /// What overlaps with nothing goes to the lowest level at once, and no compaction ever has to
    /// touch it. The files must lie on the file system of the database: they are moved, not
    /// copied.
    ///
    /// - Throws: what RocksDB reports; none of them is taken in then.
    package func adopt(_ paths: [String], into family: ColumnFamily) throws(RocksDBError) {
        guard !paths.isEmpty else { return }
        let options = unsafe rocksdb_ingestexternalfileoptions_create()!
        defer { unsafe rocksdb_ingestexternalfileoptions_destroy(options) }
        unsafe rocksdb_ingestexternalfileoptions_set_move_files(options, 1)
        unsafe try Database.withCStrings(paths) { (names) throws(RocksDBError) in
            try unsafe throwing("adopt tables") {
                unsafe rocksdb_ingest_external_file_cf(
                    handle, handle(of: family), names, names.count, options, $0)
            }
        }
    }
}
