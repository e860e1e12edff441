internal import CRocksDB

/// A value that RocksDB keeps in place (a block in its cache) for as long as this lives.
///
/// Cheaper than a copy by the library; let go of it soon, for it holds memory that the cache may
/// want back.
@safe package struct PinnedValue: ~Copyable {
    private let handle: OpaquePointer
    /// A pinned block must go before its database does.
    private let database: Database

    init(handle: OpaquePointer, database: Database) {
        unsafe self.handle = unsafe handle
        self.database = database
        LiveHandles.created(.pinnedValue)
    }

    deinit {
        unsafe rocksdb_pinnableslice_destroy(handle)
        LiveHandles.destroyed(.pinnedValue)
    }

    /// The value's bytes.
    package var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            var byteCount = 0
            let start = unsafe rocksdb_pinnableslice_value(handle, &byteCount)
            let buffer = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
            let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// A copy of the value's bytes.
    package func copy() -> [UInt8] {
        var byteCount = 0
        let start = unsafe rocksdb_pinnableslice_value(handle, &byteCount)
        return unsafe [UInt8](copying: start, byteCount: byteCount)
    }
}

extension [UInt8] {
    /// A copy of `byteCount` bytes at `start`, which the C library still owns.
    init(copying start: UnsafePointer<CChar>?, byteCount: Int) {
        unsafe self.init(UnsafeRawBufferPointer(start: start, count: byteCount))
    }
}
