// swift-format-ignore-file: NeverForceUnwrap
// `rocksdb_writebatch_create` never returns null: it allocates with `new`.
internal import CRocksDB

/// Puts and deletes that are written together. Not thread-safe: one owner.
@safe package struct WriteBatch: ~Copyable {
    let handle: OpaquePointer

    /// An empty batch.
    package init() {
        unsafe handle = rocksdb_writebatch_create()!
        LiveHandles.created(.writeBatch)
    }

    deinit {
        unsafe rocksdb_writebatch_destroy(handle)
        LiveHandles.destroyed(.writeBatch)
    }

    /// How many changes the batch holds.
    package var count: Int { unsafe Int(rocksdb_writebatch_count(handle)) }

    /// Puts `value` under `key` in a family of `database`.
    package mutating func put(
        _ value: [UInt8], for key: [UInt8], in family: ColumnFamily, of database: Database
    ) {
        unsafe key.withCharacters { key, keyByteCount in
            unsafe value.withCharacters { value, valueByteCount in
                unsafe rocksdb_writebatch_put_cf(
                    handle, database.handle(of: family), key, keyByteCount, value, valueByteCount)
            }
        }
    }

    /// Deletes `key` from a family of `database`; a missing key is no error.
    package mutating func delete(_ key: [UInt8], in family: ColumnFamily, of database: Database) {
        unsafe key.withCharacters { key, keyByteCount in
            unsafe rocksdb_writebatch_delete_cf(
                handle, database.handle(of: family), key, keyByteCount)
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes as the C library takes them: a pointer that is never null (the
    /// library asserts so, also for zero bytes) and valid only during the call.
    func withCharacters<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>, Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard !isEmpty else {
            var nothing: CChar = 0
            return unsafe try withUnsafePointer(to: &nothing) { (pointer) throws(Failure) in
                unsafe try body(pointer, 0)
            }
        }
        return unsafe try withUnsafeBufferPointer { (buffer) throws(Failure) in
            let start = unsafe UnsafeRawPointer(buffer.baseAddress!)
            return unsafe try body(start.assumingMemoryBound(to: CChar.self), buffer.count)
        }
    }
}
