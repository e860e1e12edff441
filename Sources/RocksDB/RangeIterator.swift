// swift-format-ignore-file: NeverForceUnwrap
// `rocksdb_readoptions_create` and `rocksdb_create_iterator_cf` allocate with `new`.
internal import CRocksDB

/// Walks the keys of one family in byte order, within bounds, on the state at its creation.
///
/// RocksDB keeps pointers to the bounds, not copies, so this owns memory for them and frees it
/// after the iterator. It also keeps the database open. One owner, one thread at a time.
@safe package struct RangeIterator: ~Copyable {
    private let handle: OpaquePointer
    private let readOptions: OpaquePointer
    private let bounds: UnsafeMutableRawBufferPointer
    private let database: Database
    /// What it reads, when it is not the state at its creation.
    private let snapshot: Snapshot?

    /// An iterator that stands nowhere yet: seek first.
    ///
    /// - Parameters:
    ///   - database: The database to read.
    ///   - family: Which of its families.
    ///   - lower: The least key to show; nil: no bound.
    ///   - upper: The first key not to show any more; nil: no bound.
    ///   - snapshot: A state of the same database to read; nil: the state now.
    ///   - fillsCache: Whether blocks that are read displace others in the cache.
    ///   - isFiltered: Whether the bounds lie within one prefix of `FamilyOptions.prefixByteCount`
    ///     bytes, so that filters may tell that there is nothing.
    package init(
        _ database: Database, family: ColumnFamily, from lower: [UInt8]? = nil,
        upTo upper: [UInt8]? = nil, at snapshot: Snapshot? = nil, fillsCache: Bool = true,
        isFiltered: Bool = false
    ) {
        precondition(snapshot.map { $0.database === database } ?? true, "a foreign snapshot")
        self.database = database
        self.snapshot = snapshot
        unsafe bounds = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (lower?.count ?? 0) + (upper?.count ?? 0) + 1, alignment: 1)
        unsafe readOptions = rocksdb_readoptions_create()!
        LiveHandles.created(.options)
        unsafe rocksdb_readoptions_set_verify_checksums(readOptions, 1)
        unsafe rocksdb_readoptions_set_fill_cache(readOptions, fillsCache ? 1 : 0)
        unsafe rocksdb_readoptions_set_total_order_seek(readOptions, isFiltered ? 0 : 1)
        unsafe rocksdb_readoptions_set_prefix_same_as_start(readOptions, isFiltered ? 1 : 0)
        unsafe snapshot?.apply(to: readOptions)
        var offset = 0
        if let lower {
            let start = unsafe Self.store(lower, in: bounds, at: &offset)
            unsafe rocksdb_readoptions_set_iterate_lower_bound(readOptions, start, lower.count)
        }
        if let upper {
            let start = unsafe Self.store(upper, in: bounds, at: &offset)
            unsafe rocksdb_readoptions_set_iterate_upper_bound(readOptions, start, upper.count)
        }
        unsafe handle = rocksdb_create_iterator_cf(
            database.handle, readOptions, database.handle(of: family))!
        LiveHandles.created(.iterator)
    }

    deinit {
        unsafe rocksdb_iter_destroy(handle)
        LiveHandles.destroyed(.iterator)
        unsafe rocksdb_readoptions_destroy(readOptions)
        LiveHandles.destroyed(.options)
        unsafe bounds.deallocate()
    }

    /// Moves to the first key within the bounds.
    package mutating func seekToFirst() { unsafe rocksdb_iter_seek_to_first(handle) }

    /// Moves to the last key within the bounds.
    package mutating func seekToLast() { unsafe rocksdb_iter_seek_to_last(handle) }

    /// Moves to the first key within the bounds at or after `key`.
    package mutating func seek(to key: [UInt8]) {
        unsafe key.withCharacters { start, byteCount in
            unsafe rocksdb_iter_seek(handle, start, byteCount)
        }
    }

    /// Moves to the last key within the bounds at or before `key`.
    package mutating func seek(toLastUpTo key: [UInt8]) {
        unsafe key.withCharacters { start, byteCount in
            unsafe rocksdb_iter_seek_for_prev(handle, start, byteCount)
        }
    }

    /// Whether it stands on a key. When false, `checkStatus` tells the end from a failure.
    package var isValid: Bool { unsafe rocksdb_iter_valid(handle) != 0 }

    /// Moves to the next key. Only where `isValid`.
    package mutating func next() {
        precondition(isValid, "an iterator that stands nowhere cannot go on")
        unsafe rocksdb_iter_next(handle)
    }

    /// Moves to the key before. Only where `isValid`.
    package mutating func previous() {
        precondition(isValid, "an iterator that stands nowhere cannot go back")
        unsafe rocksdb_iter_prev(handle)
    }

    /// A copy of the key. Only where `isValid`.
    package var key: [UInt8] {
        precondition(isValid, "an iterator that stands nowhere has no key")
        var byteCount = 0
        let start = unsafe rocksdb_iter_key(handle, &byteCount)
        return unsafe [UInt8](copying: start, byteCount: byteCount)
    }

    /// A copy of the value. Only where `isValid`.
    package var value: [UInt8] {
        precondition(isValid, "an iterator that stands nowhere has no value")
        var byteCount = 0
        let start = unsafe rocksdb_iter_value(handle, &byteCount)
        return unsafe [UInt8](copying: start, byteCount: byteCount)
    }

    /// Calls `body` with key and value where they lie. Only where `isValid`.
    package func withRecord<Result>(
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Result
    ) -> Result {
        precondition(isValid, "an iterator that stands nowhere has no record")
        var (keyByteCount, valueByteCount) = (0, 0)
        let key = unsafe rocksdb_iter_key(handle, &keyByteCount)
        let value = unsafe rocksdb_iter_value(handle, &valueByteCount)
        let keyBytes = unsafe UnsafeRawBufferPointer(start: key, count: keyByteCount)
        let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: valueByteCount)
        return unsafe body(Span(_unsafeBytes: keyBytes), Span(_unsafeBytes: valueBytes))
    }

    /// - Throws: what stopped the iteration, if it was not its end.
    package func checkStatus() throws(RocksDBError) {
        try unsafe throwing("iterate") { unsafe rocksdb_iter_get_error(handle, $0) }
    }

    private static func store(
        _ bound: [UInt8], in memory: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) -> UnsafePointer<CChar> {
        let start = unsafe memory.baseAddress! + offset
        unsafe start.copyMemory(from: bound, byteCount: bound.count)
        offset += bound.count
        return unsafe UnsafePointer(start.assumingMemoryBound(to: CChar.self))
    }
}
