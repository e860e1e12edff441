// swift-format-ignore-file: NeverForceUnwrap
// RocksDB's constructors of options never return null: they allocate with `new`.
internal import CRocksDB

/// How the log of writes is read when a database is opened.
package enum LogRecovery: Sendable {
    /// Any damage, also an unfinished last record, refuses to open.
    case absoluteConsistency
    /// Reads up to the first damage and drops the rest. Only for a log that was checked before: an
    /// unfinished last record is the only thing that it may drop.
    case pointInTime

    var rawMode: Int32 {
        switch self {
        case .absoluteConsistency: Int32(rocksdb_absolute_consistency_recovery)
        case .pointInTime: Int32(rocksdb_point_in_time_recovery)
        }
    }
}

/// What a database is opened with. Every value that matters is set explicitly: the library's
/// defaults move between releases.
package struct DatabaseOptions: Sendable {
    /// Make the database when there is none.
    package var createsIfMissing = false
    /// Make column families that are missing.
    package var createsMissingFamilies = true
    /// How the log is read.
    package var logRecovery = LogRecovery.absoluteConsistency
    /// Bytes of all memtables together before the largest is flushed.
    package var memtableByteCountMax: Int = 64 << 20
    /// Bytes of all logs together before families are flushed to let the oldest go.
    package var logByteCountMax: UInt64 = 128 << 20
    /// Threads for flushes and compactions.
    package var backgroundJobCountMax: Int32 = 2
    /// Whether compactions leave the processor and the disk to whoever wants them; for all
    /// databases of the process.
    package var yieldsInBackground = true
    /// Bytes of the block cache that the families of this database share.
    package var cacheByteCount: Int = 256 << 20
    /// Where RocksDB writes what it says while opening; nil: beside the data.
    package var messageDirectory: String?

    /// The values above.
    package init() {}
}

/// How one column family stores its records.
package struct FamilyOptions: Sendable {
    /// How blocks on disk are compressed.
    package enum Compression: Sendable {
        case none, lz4, zstd

        var rawCode: Int32 {
            switch self {
            case .none: Int32(rocksdb_no_compression)
            case .lz4: Int32(rocksdb_lz4_compression)
            case .zstd: Int32(rocksdb_zstd_compression)
            }
        }
    }

    /// How blocks are compressed.
    package var compression = Compression.lz4
    /// Uncompressed bytes of one block.
    package var blockByteCount: Int = 4 << 10
    /// Bytes of one memtable of this family.
    package var memtableByteCount: Int = 32 << 20
    /// Share of a memtable that a filter of its keys takes: a key that is not in it costs a look
    /// at the filter instead of a search. 0: no filter.
    package var memtableFilterShare = 0.0
    /// The filters of memtables and tables also tell whether any key begins with so many bytes. 0:
    /// they do not. Every key has as many.
    package var prefixByteCount = 0

    /// The values above.
    package init() {}
}

/// An LRU block cache, shared by the families of one database.
@safe struct BlockCache: ~Copyable {
    let handle: OpaquePointer

    init(byteCount: Int) {
        unsafe handle = rocksdb_cache_create_lru(byteCount)!
        LiveHandles.created(.cache)
    }

    /// Drops all blocks that nobody uses.
    borrowing func empty() { unsafe rocksdb_cache_set_capacity(handle, 0) }

    /// The tables hold their own reference (a `shared_ptr` behind the C interface).
    deinit {
        unsafe rocksdb_cache_destroy(handle)
        LiveHandles.destroyed(.cache)
    }
}

/// Owned options of the C library: of a database, or of one column family.
///
/// A class, so that one array can hold those of all families; it never leaves the call that opens.
@safe final class OptionsHandle {
    let handle: OpaquePointer

    deinit {
        unsafe rocksdb_options_destroy(handle)
        LiveHandles.destroyed(.options)
    }

    /// `InfoLogLevel::HEADER_LEVEL`.
    private static let headersOnly: Int32 = 5

    /// Options of a whole database.
    init(_ options: DatabaseOptions) {
        unsafe handle = rocksdb_options_create()!
        LiveHandles.created(.options)
        unsafe rocksdb_options_set_create_if_missing(handle, options.createsIfMissing ? 1 : 0)
        unsafe rocksdb_options_set_create_missing_column_families(
            handle, options.createsMissingFamilies ? 1 : 0)
        unsafe rocksdb_options_set_error_if_exists(handle, 0)
        unsafe rocksdb_options_set_paranoid_checks(handle, 1)
        unsafe rocksdb_options_set_wal_recovery_mode(handle, options.logRecovery.rawMode)
        // The checker of logs reads plain records, and a reused log file would show old ones.
        unsafe rocksdb_options_set_wal_compression(handle, Int32(rocksdb_no_compression))
        unsafe rocksdb_options_set_recycle_log_file_num(handle, 0)
        unsafe rocksdb_options_set_manual_wal_flush(handle, 0)
        unsafe rocksdb_options_set_use_fsync(handle, 0)
        unsafe rocksdb_options_set_is_fd_close_on_exec(handle, 1)
        unsafe rocksdb_options_set_db_write_buffer_size(handle, options.memtableByteCountMax)
        unsafe rocksdb_options_set_max_total_wal_size(handle, options.logByteCountMax)
        unsafe rocksdb_options_set_max_background_jobs(handle, options.backgroundJobCountMax)
        unsafe rocksdb_options_set_max_open_files(handle, -1)
        unsafe rocksdb_options_set_max_file_opening_threads(handle, 16)
        unsafe rocksdb_options_set_max_subcompactions(handle, 1)
        // Statistics of files are read when a compaction wants them, not of all before the first
        // answer.
        unsafe rocksdb_options_set_skip_stats_update_on_db_open(handle, 1)
        unsafe rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(handle, 0)
        if options.yieldsInBackground { Self.yieldInBackground() }
        // Compactions write in pieces of 1 MiB, so that a commit's sync never waits for gigabytes.
        unsafe rocksdb_options_set_bytes_per_sync(handle, 1 << 20)
        unsafe rocksdb_options_set_enable_pipelined_write(handle, 0)
        unsafe rocksdb_options_set_unordered_write(handle, 0)
        // Every change of the set of tables begins a new manifest, with the tables that there are,
        // some 100 bytes each. One that goes on growing would hold the first and the last key of
        // tables long gone, and a key may be the name of somebody who was to be forgotten.
        unsafe rocksdb_options_set_max_manifest_file_size(handle, 1)
        // RocksDB's own log gets what it says while opening, and nothing later: on a full disk its
        // second line aborts the process, for Debian's library is built with assertions, and a
        // file that failed once may not be written again.
        unsafe rocksdb_options_set_info_log_level(handle, Self.headersOnly)
        unsafe rocksdb_options_set_keep_log_file_num(handle, 2)
        if let directory = options.messageDirectory {
            unsafe rocksdb_options_set_db_log_dir(handle, directory)
        }
        unsafe rocksdb_options_set_stats_dump_period_sec(handle, 0)
        unsafe rocksdb_options_set_stats_persist_period_sec(handle, 0)
    }

    /// Makes the threads of compactions nice: a check that comes in takes the processor from them
    /// at once. When they get too little of it, commits are held up, not checks.
    ///
    /// Not those of flushes, tried and thrown away: on a busy machine old logs went so late that a
    /// store on a disk that was nearly full took writes, refused them and took them again.
    private static func yieldInBackground() {
        let environment = unsafe rocksdb_create_default_env()!
        defer { unsafe rocksdb_env_destroy(environment) }
        unsafe rocksdb_env_lower_thread_pool_cpu_priority(environment)
        unsafe rocksdb_env_lower_thread_pool_io_priority(environment)
    }

    /// Options of one column family whose blocks go through `cache`.
    init(_ options: FamilyOptions, cache: borrowing BlockCache) {
        unsafe handle = rocksdb_options_create()!
        LiveHandles.created(.options)
        unsafe rocksdb_options_set_compression(handle, options.compression.rawCode)
        unsafe rocksdb_options_set_bottommost_compression(handle, options.compression.rawCode)
        unsafe rocksdb_options_set_write_buffer_size(handle, options.memtableByteCount)
        unsafe rocksdb_options_set_max_write_buffer_number(handle, 2)
        unsafe rocksdb_options_set_level_compaction_dynamic_level_bytes(handle, 1)
        unsafe rocksdb_options_set_target_file_size_base(handle, 64 << 20)
        unsafe rocksdb_options_set_paranoid_checks(handle, 1)
        unsafe rocksdb_options_set_level0_file_num_compaction_trigger(handle, 4)
        unsafe rocksdb_options_set_level0_slowdown_writes_trigger(handle, 20)
        unsafe rocksdb_options_set_level0_stop_writes_trigger(handle, 36)
        unsafe rocksdb_options_set_optimize_filters_for_hits(handle, 0)
        if options.prefixByteCount > 0 {
            // Belongs to the options from here on.
            unsafe rocksdb_options_set_prefix_extractor(
                handle, rocksdb_slicetransform_create_fixed_prefix(options.prefixByteCount))
        }
        if options.memtableFilterShare > 0 {
            unsafe rocksdb_options_set_memtable_prefix_bloom_size_ratio(
                handle, options.memtableFilterShare)
            unsafe rocksdb_options_set_memtable_whole_key_filtering(handle, 1)
        }

        let table = unsafe rocksdb_block_based_options_create()!
        unsafe Self.set(table, options, cache: cache.handle)
        unsafe rocksdb_options_set_block_based_table_factory(handle, table)
        unsafe rocksdb_block_based_options_destroy(table)
    }

    /// Tables for point reads: ribbon filters of 10 bits on all levels (an absent key costs 1.3 us
    /// instead of 6), a hash index inside the blocks, index and filter outside the cache.
    private static func set(
        _ table: OpaquePointer, _ options: FamilyOptions, cache: OpaquePointer
    ) {
        unsafe rocksdb_block_based_options_set_block_size(table, options.blockByteCount)
        unsafe rocksdb_block_based_options_set_block_cache(table, cache)
        unsafe rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 0)
        // The policy belongs to the table options from here on.
        unsafe rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_ribbon_hybrid(10, 1))
        unsafe rocksdb_block_based_options_set_whole_key_filtering(table, 1)
        unsafe rocksdb_block_based_options_set_format_version(table, 5)
        unsafe rocksdb_block_based_options_set_checksum(table, 4)
        unsafe rocksdb_block_based_options_set_index_type(
            table, Int32(rocksdb_block_based_table_index_type_binary_search))
        unsafe rocksdb_block_based_options_set_data_block_index_type(
            table, Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash))
        unsafe rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75)
    }
}
