internal import RocksDB
internal import Storage

/// How the keyspaces lie in RocksDB, and how the database is opened, checked first.
///
/// Each keyspace is a column family of its name. The family "default", which RocksDB wants to
/// exist, holds one record of the store itself: "format", the format version as 8 bytes, big
/// endian. It repeats the `FORMAT` file, in case that is copied or restored apart from the data.
enum StoreOpening {
    /// Why a database is opened.
    enum Purpose {
        /// To be made, in a directory that has none.
        case create
        /// To be read and written.
        case use
        /// To be read while the disk takes no writes.
        case readOnly
    }

    /// RocksDB's own family.
    private static let ownFamily = ColumnFamily(index: 0)
    private static let formatKey = Key.format

    /// Checks the logs in `directory` and opens the database there.
    ///
    /// - Parameters:
    ///   - directory: The directory of the database itself.
    ///   - purpose: Why.
    ///   - options: How.
    /// - Returns: The database, and sentences on unfinished records that were left out.
    /// - Throws: `.damaged` naming the file, `.locked`, `.noPermission`, `.unavailable`.
    static func open(
        _ directory: String, _ purpose: Purpose, _ options: StorageOptions
    ) throws(StorageError) -> (database: Database, unfinished: [String]) {
        let mark = try AcknowledgedMark.read(beside: directory)
        let logs = purpose == .create ? nil : try checkLogs(in: directory, mark)
        var unfinished = logs?.unfinished ?? []
        if let warning = mark.warning { unfinished.append(warning) }
        let databaseOptions = databaseOptions(
            purpose, options, isWhole: logs?.unfinished.isEmpty ?? true)
        let isUnknown = purpose == .use && logs?.end == nil && mark.sequence > 0
        if purpose == .readOnly || isUnknown && hasAllFamilies(directory, options) {
            // Opening for writing removes tables that the manifest does not name. Where no log
            // tells how far the data reach, that is found out first, without changing anything.
            var readOnlyOptions = databaseOptions
            readOnlyOptions.createsMissingFamilies = false
            let database = try openReadOnly(directory, readOnlyOptions, options)
            try mark.check(database.latestSequenceNumber, of: directory)
            if purpose == .readOnly { return (database, unfinished) }
        }
        let database = try open(directory, .readWrite, databaseOptions, options)
        try mark.check(database.latestSequenceNumber, of: directory)
        return (database, unfinished)
    }

    /// Whether the database has every family of this release: one that lacks some can only be
    /// opened for writing.
    private static func hasAllFamilies(_ directory: String, _ options: StorageOptions) -> Bool {
        guard let names = try? Database.familyNames(in: directory) else { return false }
        return Set(names).isSuperset(of: families(options).map(\.name))
    }

    private static func openReadOnly(
        _ directory: String, _ databaseOptions: DatabaseOptions, _ options: StorageOptions
    ) throws(StorageError) -> Database {
        var databaseOptions = databaseOptions
        // The disk may be full to the last byte.
        let opened = try onFiles(of: directory) { () throws(FileError) in
            try Files.withScratchDirectory(byteCount: messageByteCountMax) { scratch in
                databaseOptions.messageDirectory = scratch
                return Result { () throws(StorageError) in
                    try open(directory, .readOnly, databaseOptions, options)
                }
            }
        }
        return try opened.get()
    }

    /// Reads the logs; they must be whole, and reach as far as what was acknowledged.
    private static func checkLogs(
        in directory: String, _ mark: AcknowledgedMark
    ) throws(StorageError) -> LogDirectoryCheck {
        let check = try onFiles(of: directory) { () throws(FileError) in
            try LogDirectoryCheck(directory: directory)
        }
        if let damage = check.damage {
            throw .damaged(
                message: damage + "; acknowledged changes would be lost, so the store stays "
                    + "closed: restore a backup, or repair the disk")
        }
        // Before RocksDB touches the logs: what is refused is left as it was found. Where no log
        // holds a change, all are in tables, and the database says how far they reach.
        if let end = check.end { try mark.check(end.nextSequence - 1, of: end.path) }
        return check
    }

    /// RocksDB says some 3 KB per column family while opening.
    private static let messageByteCountMax: UInt64 = 1 << 20

    /// How many broken databases of one directory this process may keep.
    private static let brokenCountMax = 16

    /// Opens the database, which no other process uses, for its directory is locked.
    ///
    /// RocksDB opens no path twice, and a broken database, which is never closed, goes on holding
    /// its own: so the path is spelt in another way then.
    private static func open(
        _ path: String, _ mode: Database.Mode, _ databaseOptions: DatabaseOptions,
        _ options: StorageOptions
    ) throws(StorageError) -> Database {
        var spelling = path
        for _ in 0..<brokenCountMax {
            do {
                return try Database(
                    directory: spelling, mode: mode, options: databaseOptions,
                    families: families(options))
            } catch {
                guard error.kind == .heldHere else {
                    throw StorageError(opening: error, directory: path)
                }
                spelling += "/."
            }
        }
        throw .unavailable(
            message:
                "\(path) failed \(brokenCountMax) times: look at the disk and restart the server")
    }

    /// Why the database in `directory` cannot be opened for writing now, if the disk is too full.
    ///
    /// Opening moves the logs into tables. It must not fail in the middle for want of space:
    /// Debian's RocksDB aborts the process then.
    static func shortage(
        in directory: String, _ options: StorageOptions
    ) throws(StorageError) -> String? {
        try onFiles(of: directory) { () throws(FileError) in
            var needed = options.reserveByteCount
            if try Files.entry(at: directory) != nil {
                for name in try Files.names(in: directory) where name.hasSuffix(".log") {
                    needed += try Files.byteCount(of: directory + "/" + name)
                }
            }
            return try shortage(of: needed, beside: Files.parent(of: directory))
        }
    }

    /// A sentence on too little space beside `path`; nil when there is enough.
    static func shortage(
        of byteCount: UInt64, beside path: String
    ) throws(FileError) -> String? {
        let free = try Files.freeByteCount(at: path)
        guard free < byteCount else { return nil }
        return "No space left on device: \(free) bytes are free at \(path), \(byteCount) are needed"
    }

    /// Checks the version written in the database, or writes it into one that is new.
    ///
    /// - Returns: whether an earlier release wrote the data; this one reads them as they are.
    /// - Throws: `.newerFormat`, `.damaged`, `.unavailable`.
    static func checkFormat(of database: Database, _ path: String) throws(StorageError) -> Bool {
        let stored: [UInt8]?
        do {
            stored = try database.value(for: formatKey, in: ownFamily)?.copy()
            if stored == nil && database.latestSequenceNumber == 0 {
                try putFormat(into: database)
                return false
            }
        } catch { throw StorageError(reading: error) }
        let version = try formatVersion(stored, path)
        try StoreDirectory.checkFormat(version, path)
        return version < StoreDirectory.formatVersion
    }

    /// The version written in the database.
    ///
    /// - Throws: `.damaged` where there is none.
    static func storedFormat(of database: Database, _ path: String) throws(StorageError) -> UInt64 {
        let stored: [UInt8]?
        do {
            stored = try database.value(for: formatKey, in: ownFamily)?.copy()
        } catch { throw StorageError(reading: error) }
        return try formatVersion(stored, path)
    }

    private static func formatVersion(
        _ stored: [UInt8]?, _ path: String
    ) throws(StorageError) -> UInt64 {
        guard let stored, stored.count == 8 else {
            throw .damaged(message: "\(path): the database does not say which format it has")
        }
        return stored.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Writes the version of this release into a database of an earlier one.
    ///
    /// - Throws: `.unavailable`.
    static func raiseFormat(of database: Database) throws(StorageError) {
        do {
            try putFormat(into: database)
        } catch { throw StorageError(reading: error) }
    }

    private static func putFormat(into database: Database) throws(RocksDBError) {
        var batch = WriteBatch()
        batch.put(
            bigEndianBytes(StoreDirectory.formatVersion), for: formatKey, in: ownFamily,
            of: database)
        try database.write(batch, synced: true)
    }

    private static func bigEndianBytes(_ value: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func databaseOptions(
        _ purpose: Purpose, _ options: StorageOptions, isWhole: Bool
    ) -> DatabaseOptions {
        var result = DatabaseOptions()
        result.createsIfMissing = purpose == .create
        result.createsMissingFamilies = purpose != .readOnly
        result.logRecovery = isWhole ? .absoluteConsistency : .pointInTime
        result.memtableByteCountMax = options.memtableByteCountMax
        result.logByteCountMax = options.logByteCountMax
        result.backgroundJobCountMax = options.backgroundJobCountMax
        result.cacheByteCount = options.cacheByteCount
        return result
    }
}

// MARK: - Keyspaces

extension StoreOpening {
    /// The family of `keyspace`: its place behind the own family.
    static func family(of keyspace: Keyspace) -> ColumnFamily {
        let index =
            switch keyspace {
            case .meta: 1
            case .identities: 2
            case .customers: 3
            case .households: 4
            case .transactions: 5
            case .renewals: 6
            case .payloads: 7
            case .snapshots: 8
            case .notifications: 9
            case .history: 10
            case .audit: 11
            case .refreshes: 12
            case .matches: 13
            case .usage: 14
            case .refunds: 15
            }
        return ColumnFamily(index: index)
    }

    /// All families, the own one too.
    static var allFamilies: [ColumnFamily] { [ownFamily] + Keyspace.allCases.map(family(of:)) }

    private static func families(
        _ options: StorageOptions
    ) -> [(name: String, options: FamilyOptions)] {
        let own = (name: "default", options: FamilyOptions())
        let keyspaces = Keyspace.allCases.sorted { family(of: $0).index < family(of: $1).index }
        return [own] + keyspaces.map { ($0.rawValue, familyOptions(of: $0, options)) }
    }

    /// Records are read one by one: small blocks, LZ4. What Apple signed is read for people and
    /// rebuilds: large blocks and ZSTD, for the certificates in every payload are the same.
    static func familyOptions(
        of keyspace: Keyspace, _ options: StorageOptions
    ) -> FamilyOptions {
        var result = FamilyOptions()
        result.memtableByteCount = options.memtableByteCountMax / 2
        switch keyspace {
        case .payloads, .notifications:
            result.compression = .zstd
            result.blockByteCount = 32 << 10
        case .meta, .identities, .customers, .households, .transactions, .renewals, .snapshots,
            .history, .audit, .refreshes, .matches, .usage, .refunds:
            result.compression = .lz4
            result.blockByteCount = 4 << 10
        }
        switch keyspace {
        case .identities, .customers, .snapshots, .notifications:
            // Asked for one by one, often for what is not there.
            result.memtableFilterShare = 0.02
        case .matches:
            // Each fact asks who shares its dates, and nearly always nobody does: 14 us of an
            // ingest were the search for it.
            result.memtableFilterShare = 0.02
            result.prefixByteCount = Key.matchDatesByteCount
        default: break
        }
        return result
    }
}
