// swift-format-ignore-file: NeverForceUnwrap
// RocksDB's constructors never return null without an error: they allocate with `new`.
internal import CRocksDB
internal import Synchronization

/// An open RocksDB database with its column families. Safe from any thread.
///
/// It closes when the last reference goes: pinned values, iterators and snapshots hold one, so
/// none of them can outlive it. The handles of the families are destroyed before the database is
/// closed (the library aborts the process otherwise).
///
/// After a write or a sync that failed it is *broken*: it can be read, but not be written, and not
/// be closed either, for closing flushes the log, and Debian's library, built with assertions,
/// aborts the process when a file that failed once is written again. So a broken database is
/// abandoned: its background work is stopped, its cache emptied, and the rest of its memory
/// (memtables and file descriptors) is left to the end of the process. Opening its directory
/// again, under another spelling of the path, is safe then: nothing of the old one runs any more.
///
/// `@unchecked Sendable`: all properties are constant, and `rocksdb/db.h` promises that one
/// database may be used by many threads without outer synchronization.
@safe package final class Database: @unchecked Sendable {
    /// Whether a database is opened to be changed.
    package enum Mode: Sendable {
        /// Read and write; replays the log and takes the library's lock.
        case readWrite
        /// Read only: nothing on disk is changed, the log is read into memory.
        case readOnly
    }

    let handle: OpaquePointer
    private let familyHandles: [OpaquePointer]
    private let familyCount: Int
    private let readOptions: OpaquePointer
    private let syncedWrite: OpaquePointer
    private let unsyncedWrite: OpaquePointer
    private let cache: BlockCache
    private let broken = Atomic<Bool>(false)

    /// Opens the database in `directory`.
    ///
    /// - Parameters:
    ///   - directory: Where its files are. Its parent must exist.
    ///   - mode: Whether it will be changed.
    ///   - options: What it is opened with.
    ///   - families: All column families by name; "default" must be among them. The place of each
    ///     is its `ColumnFamily.index`. A family on disk that is not named here refuses to open.
    /// - Throws: what RocksDB reports; nothing stays open then.
    package init(
        directory: String, mode: Mode, options: DatabaseOptions,
        families: [(name: String, options: FamilyOptions)]
    ) throws(RocksDBError) {
        let cache = BlockCache(byteCount: options.cacheByteCount)
        let opened = unsafe try Self.open(directory, mode, options, families, cache)
        self.cache = cache
        unsafe handle = opened.database
        unsafe familyHandles = opened.families
        familyCount = families.count
        LiveHandles.created(.database)
        for _ in families { LiveHandles.created(.columnFamily) }

        // A point read also checks the block's checksum: it costs 0.3 us, and only when the block
        // comes from the disk.
        unsafe readOptions = rocksdb_readoptions_create()!
        unsafe rocksdb_readoptions_set_verify_checksums(readOptions, 1)
        unsafe rocksdb_readoptions_set_fill_cache(readOptions, 1)
        unsafe syncedWrite = Self.writeOptions(synced: true)
        unsafe unsyncedWrite = Self.writeOptions(synced: false)
        for _ in 0..<3 { LiveHandles.created(.options) }
    }

    deinit {
        if isBroken {
            unsafe rocksdb_cancel_all_background_work(handle, 1)
            cache.empty()
        } else {
            for index in 0..<familyCount {
                unsafe rocksdb_column_family_handle_destroy(familyHandles[index])
                LiveHandles.destroyed(.columnFamily)
            }
            unsafe rocksdb_close(handle)
            LiveHandles.destroyed(.database)
        }
        unsafe rocksdb_readoptions_destroy(readOptions)
        unsafe rocksdb_writeoptions_destroy(syncedWrite)
        unsafe rocksdb_writeoptions_destroy(unsyncedWrite)
        for _ in 0..<3 { LiveHandles.destroyed(.options) }
    }

    /// Whether a write or a sync has failed; from then on every further one throws.
    package var isBroken: Bool { broken.load(ordering: .acquiring) }

    /// The value under `key` in `family`, pinned in place; nil when there is none.
    ///
    /// - Throws: what RocksDB reports, a damaged block above all.
    package func value(
        for key: [UInt8], in family: ColumnFamily
    ) throws(RocksDBError) -> PinnedValue? {
        unsafe try value(for: key, in: family, readOptions)
    }

    func value(
        for key: [UInt8], in family: ColumnFamily, _ options: OpaquePointer
    ) throws(RocksDBError) -> PinnedValue? {
        let slice = unsafe try key.withCharacters { (start, byteCount) throws(RocksDBError) in
            try unsafe throwing("get") {
                unsafe rocksdb_get_pinned_cf(
                    handle, options, handle(of: family), start, byteCount, $0)
            }
        }
        guard let slice = unsafe slice else { return nil }
        return unsafe PinnedValue(handle: slice, database: self)
    }

    /// Writes `batch` whole or not at all.
    ///
    /// - Parameters:
    ///   - batch: The changes.
    ///   - synced: Whether the log is on disk when this returns.
    /// - Throws: what RocksDB reports. A batch whose sync failed may be in the log all the same.
    package func write(_ batch: borrowing WriteBatch, synced: Bool) throws(RocksDBError) {
        let batchHandle = unsafe batch.handle
        let writeOptions = unsafe synced ? syncedWrite : unsyncedWrite
        try unsafe breakable("write") {
            unsafe rocksdb_write(handle, writeOptions, batchHandle, $0)
        }
    }

    /// Puts all that was written without a sync on disk.
    ///
    /// - Throws: what RocksDB reports.
    package func syncLog() throws(RocksDBError) {
        try unsafe breakable("sync") { unsafe rocksdb_flush_wal(handle, 1, $0) }
    }

    /// Calls `body`, which writes the log; once that has failed it is never touched again.
    private func breakable(
        _ operation: String,
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Void
    ) throws(RocksDBError) {
        guard !isBroken else {
            throw RocksDBError(operation: operation, message: "IO error: a write failed before")
        }
        do {
            try unsafe throwing(operation, body)
        } catch {
            broken.store(true, ordering: .releasing)
            throw error
        }
    }

    /// Moves the memtable of `family` into a file, and waits for it.
    package func flush(_ family: ColumnFamily) throws(RocksDBError) {
        let options = unsafe rocksdb_flushoptions_create()!
        defer { unsafe rocksdb_flushoptions_destroy(options) }
        unsafe rocksdb_flushoptions_set_wait(options, 1)
        try unsafe throwing("flush") {
            unsafe rocksdb_flush_cf(handle, options, handle(of: family), $0)
        }
    }

    /// Compacts all of `family`, and waits for it.
    package func compact(_ family: ColumnFamily) {
        unsafe rocksdb_compact_range_cf(handle, handle(of: family), nil, 0, nil, 0)
    }

    /// Compacts the tables of `family` that may hold a key from `first` to `last`, down to the
    /// level that holds the oldest of them, and waits for it. Other compactions go on beside it.
    ///
    /// Where it is forced, tables of the lowest level are written anew as well. Else one that
    /// nothing stands above stays as it is, with the deletions in it.
    package func compact(
        _ family: ColumnFamily, from first: [UInt8], to last: [UInt8], isForced: Bool
    ) {
        let options = unsafe rocksdb_compactoptions_create()!
        defer { unsafe rocksdb_compactoptions_destroy(options) }
        unsafe rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0)
        // `BottommostLevelCompaction`: kForceOptimized, kIfHaveCompactionFilter.
        unsafe rocksdb_compactoptions_set_bottommost_level_compaction(options, isForced ? 3 : 1)
        unsafe first.withCharacters { start, startByteCount in
            unsafe last.withCharacters { end, endByteCount in
                unsafe rocksdb_compact_range_cf_opt(
                    handle, handle(of: family), options, start, startByteCount, end, endByteCount)
            }
        }
    }

    /// The number of the last change written; each put or delete counts one.
    package var latestSequenceNumber: UInt64 {
        unsafe rocksdb_get_latest_sequence_number(handle)
    }

    /// A property by its RocksDB name (`rocksdb.stats`, ...); nil when unknown.
    package func property(_ name: String) -> String? {
        guard let text = unsafe rocksdb_property_value(handle, name) else { return nil }
        defer { unsafe rocksdb_free(text) }
        return unsafe String(cString: text)
    }

    func handle(of family: ColumnFamily) -> OpaquePointer {
        unsafe familyHandles[family.index]
    }

    private static func writeOptions(synced: Bool) -> OpaquePointer {
        let options = unsafe rocksdb_writeoptions_create()!
        unsafe rocksdb_writeoptions_set_sync(options, synced ? 1 : 0)
        unsafe rocksdb_writeoptions_disable_WAL(options, 0)
        return unsafe options
    }
}

// MARK: - Opening

extension Database {
    /// The names of the column families of the database in `directory`.
    ///
    /// - Throws: what RocksDB reports, also when there is no database.
    package static func familyNames(in directory: String) throws(RocksDBError) -> [String] {
        let options = OptionsHandle(DatabaseOptions())
        var count = 0
        let list = try unsafe throwing("list families") {
            unsafe rocksdb_list_column_families(options.handle, directory, &count, $0)
        }
        guard let list = unsafe list else { return [] }
        defer { unsafe rocksdb_list_column_families_destroy(list, count) }
        return (0..<count).compactMap { index in
            unsafe list[index].map { unsafe String(cString: $0) }
        }
    }

    private static func open(
        _ directory: String, _ mode: Mode, _ options: DatabaseOptions,
        _ families: [(name: String, options: FamilyOptions)], _ cache: borrowing BlockCache
    ) throws(RocksDBError) -> (database: OpaquePointer, families: [OpaquePointer]) {
        precondition(families.contains { $0.name == "default" }, "the family default is missing")
        let options = OptionsHandle(options)
        var familyOptions: [OptionsHandle] = []
        for family in families {
            familyOptions.append(OptionsHandle(family.options, cache: cache))
        }
        // The options must live through the call; the library copies them.
        return unsafe try withExtendedLifetime((options, familyOptions)) {
            () throws(RocksDBError) in
            unsafe try open(directory, mode, options, familyOptions, names: families.map(\.name))
        }
    }

    private static func open(
        _ directory: String, _ mode: Mode, _ options: OptionsHandle,
        _ familyOptions: [OptionsHandle], names: [String]
    ) throws(RocksDBError) -> (database: OpaquePointer, families: [OpaquePointer]) {
        let count = Int32(names.count)
        let optionHandles: [OpaquePointer?] = unsafe familyOptions.map { unsafe $0.handle }
        var handles = unsafe [OpaquePointer?](repeating: nil, count: names.count)
        let database = unsafe try withCStrings(names) { (names) throws(RocksDBError) in
            try unsafe throwing("open") { error in
                switch mode {
                case .readWrite:
                    unsafe rocksdb_open_column_families(
                        options.handle, directory, count, names, optionHandles, &handles, error)
                case .readOnly:
                    unsafe rocksdb_open_for_read_only_column_families(
                        options.handle, directory, count, names, optionHandles, &handles, 0, error)
                }
            }
        }
        return unsafe (database!, handles.map { unsafe $0! })
    }

    /// Calls `body` with `strings` as C strings that live during the call.
    static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafePointer<CChar>?]) throws(RocksDBError) -> Result
    ) throws(RocksDBError) -> Result {
        var text: [CChar] = []
        var offsets: [Int] = []
        for string in strings {
            offsets.append(text.count)
            text.append(contentsOf: string.utf8.map { CChar(bitPattern: $0) })
            text.append(0)
        }
        return unsafe try text.withUnsafeBufferPointer { (buffer) throws(RocksDBError) in
            unsafe try body(offsets.map { unsafe buffer.baseAddress! + $0 })
        }
    }
}

// MARK: - Tables

/// A table that a database uses now.
package struct LiveTable: Hashable, Sendable {
    /// The name of its file in the directory.
    package let name: String
    /// The name of its column family.
    package let familyName: String
    /// Its first key.
    package let firstKey: [UInt8]
    /// Its last key.
    package let lastKey: [UInt8]
    /// How many deletions are in it.
    package let deletionCount: UInt64
}

extension Database {
    /// The tables of all families.
    package var liveTables: [LiveTable] {
        let list = unsafe rocksdb_livefiles(handle)
        defer { unsafe rocksdb_livefiles_destroy(list) }
        return (0..<(unsafe rocksdb_livefiles_count(list))).map { index in
            var byteCount = 0
            let first = unsafe rocksdb_livefiles_smallestkey(list, index, &byteCount)
            let firstKey = unsafe Self.bytes(first, byteCount)
            let last = unsafe rocksdb_livefiles_largestkey(list, index, &byteCount)
            let name = unsafe String(cString: rocksdb_livefiles_name(list, index)!)
            return LiveTable(
                name: name.hasPrefix("/") ? String(name.dropFirst()) : name,
                familyName: unsafe String(
                    cString: rocksdb_livefiles_column_family_name(list, index)!),
                firstKey: firstKey, lastKey: unsafe Self.bytes(last, byteCount),
                deletionCount: unsafe rocksdb_livefiles_deletions(list, index))
        }
    }

    private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
        guard let start = unsafe start else { return [] }
        return (0..<count).map { unsafe UInt8(bitPattern: start[$0]) }
    }
}
