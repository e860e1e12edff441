import FoundationEssentials
import RocksDBStorage
import Storage

/// A directory of its own under the system's temporary one, removed when it goes out of use.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appending(path: "store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside it.
    func appending(_ name: String) -> String { path + "/" + name }
}

/// The two stores that must behave alike.
enum StoreKind: CaseIterable, Sendable {
    case memory, disk
}

/// A store that can be read as it stood at one moment.
protocol SnapshotTaking: EntitlementWriter, Sendable {
    associatedtype Snapshot: EntitlementReader & Sendable

    func withSnapshot<Result, Failure: Error>(
        _ body: (Snapshot) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension MemoryStore: SnapshotTaking {}
extension RocksDBStore: SnapshotTaking {}

/// An open store of one kind, and what it stands on.
struct StoreFixture {
    let store: any SnapshotTaking
    private let directory: TemporaryDirectory?

    init(_ kind: StoreKind) throws {
        switch kind {
        case .memory:
            directory = nil
            store = MemoryStore()
        case .disk:
            let directory = try TemporaryDirectory()
            self.directory = directory
            store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        }
    }
}

extension StorageOptions {
    /// Little memory: many stores are open at once in tests.
    static var small: StorageOptions {
        var options = StorageOptions()
        options.cacheByteCount = 1 << 20
        options.memtableByteCountMax = 1 << 20
        options.retryIntervalMilliseconds = 0
        options.reserveByteCount = 1 << 20
        return options
    }
}

/// One record, comparable.
struct Record: Equatable, Sendable, CustomStringConvertible {
    var key: [UInt8]
    var value: [UInt8]

    var description: String { "\(key): \(value.count) bytes" }
}

extension EntitlementReader {
    /// All records that a scan shows, at most `limit` of them.
    func records(
        _ keyspace: Keyspace, prefix: [UInt8] = [], from start: [UInt8]? = nil,
        reversed: Bool = false, limit: Int = .max
    ) throws(StorageError) -> [Record] {
        var records: [Record] = []
        try scan(keyspace, prefix: prefix, from: start, reversed: reversed) { key, value in
            records.append(Record(key: key, value: value))
            return records.count < limit
        }
        return records
    }

    /// The keys that a scan shows.
    func keys(
        _ keyspace: Keyspace, prefix: [UInt8] = [], from start: [UInt8]? = nil,
        reversed: Bool = false
    ) throws(StorageError) -> [[UInt8]] {
        try records(keyspace, prefix: prefix, from: start, reversed: reversed).map(\.key)
    }
}

extension EntitlementWriter {
    /// Commits puts of `value` under each of `keys`.
    func put(
        _ keys: [[UInt8]], value: [UInt8] = [1], in keyspace: Keyspace = .customers
    ) throws(StorageError) {
        var changes = ChangeSet()
        for key in keys { changes.put(value, for: key, in: keyspace) }
        try commit(changes)
    }
}
