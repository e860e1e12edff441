import FoundationEssentials
import RocksDB

/// A directory of its own under the system's temporary one, removed when it goes out of use.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appending(path: "rocksdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside it.
    func appending(_ name: String) -> String { path + "/" + name }
}

/// The families of the databases in these tests.
let defaultFamily = ColumnFamily(index: 0)
let otherFamily = ColumnFamily(index: 1)

extension Database {
    /// A small database with the families "default" and "other".
    static func small(
        _ directory: String, mode: Mode = .readWrite, names: [String] = ["default", "other"],
        creates: Bool = true, recovery: LogRecovery = .absoluteConsistency,
        memtableByteCountMax: Int = 1 << 20
    ) throws(RocksDBError) -> Database {
        var options = DatabaseOptions()
        options.createsIfMissing = creates
        options.logRecovery = recovery
        options.cacheByteCount = 1 << 20
        options.memtableByteCountMax = memtableByteCountMax
        return try Database(
            directory: directory, mode: mode, options: options,
            families: names.map { ($0, FamilyOptions()) })
    }

    /// Writes one record, synced.
    func put(
        _ value: [UInt8], for key: [UInt8], in family: ColumnFamily = defaultFamily
    ) throws(RocksDBError) {
        var batch = WriteBatch()
        batch.put(value, for: key, in: family, of: self)
        try write(batch, synced: true)
    }

    /// The value under a key.
    func copy(
        of key: [UInt8], in family: ColumnFamily = defaultFamily
    ) throws(RocksDBError) -> [UInt8]? {
        try value(for: key, in: family)?.copy()
    }
}
