// swift-format-ignore-file: NeverForceUnwrap
// `rocksdb_create_snapshot` returns null only for databases that support no snapshots, and
// `rocksdb_readoptions_create` never does.
internal import CRocksDB

/// One consistent state of a whole database, over all its families. Safe from any thread.
///
/// While it lives, compactions keep what it can see, and the database stays open: hold it for the
/// length of a query.
///
/// `@unchecked Sendable`: all properties are constant, and neither a snapshot nor read options are
/// ever changed once they are made.
@safe package final class Snapshot: @unchecked Sendable {
    /// The database whose state it is.
    package let database: Database
    let readOptions: OpaquePointer
    private let handle: OpaquePointer

    /// The state of `database` now.
    package init(of database: Database) {
        self.database = database
        unsafe handle = rocksdb_create_snapshot(database.handle)!
        LiveHandles.created(.snapshot)
        unsafe readOptions = rocksdb_readoptions_create()!
        LiveHandles.created(.options)
        unsafe rocksdb_readoptions_set_verify_checksums(readOptions, 1)
        unsafe rocksdb_readoptions_set_snapshot(readOptions, handle)
    }

    deinit {
        unsafe rocksdb_readoptions_destroy(readOptions)
        LiveHandles.destroyed(.options)
        unsafe rocksdb_release_snapshot(database.handle, handle)
        LiveHandles.destroyed(.snapshot)
    }

    /// The value under `key` in `family`, pinned in place; nil when there was none.
    ///
    /// - Throws: what RocksDB reports, a damaged block above all.
    package func value(
        for key: [UInt8], in family: ColumnFamily
    ) throws(RocksDBError) -> PinnedValue? {
        unsafe try database.value(for: key, in: family, readOptions)
    }

    /// Makes an iterator with `options` see this state.
    func apply(to options: OpaquePointer) {
        unsafe rocksdb_readoptions_set_snapshot(options, handle)
    }
}
