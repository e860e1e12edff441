import Backup
import Entitlements
import FoundationEssentials
import RocksDBStorage
import Storage

/// A directory of its own under the system's temporary one, removed when it goes out of use.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory.path
            + "/backup-\(UUID().uuidString.prefix(13).lowercased())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func appending(_ name: String) -> String { path + "/" + name }
}

/// A store with some records, and a directory for its backups.
struct BackupFixture {
    static let noon = Timestamp(milliseconds: 1_772_323_200_000)
    static let noonText = "2026-03-01T00:00:00.000Z"

    let directory: TemporaryDirectory
    let store: RocksDBStore

    var root: String { directory.appending("backups") }

    init() throws {
        directory = try TemporaryDirectory()
        let data = directory.appending("data")
        let first = try RocksDBStore(directory: data, options: .small)
        try Self.put(revision: 6, byteCount: 200_000, into: first)
        first.close()
        // What is in the log becomes a table when the store is opened.
        store = try RocksDBStore(directory: data, options: .small)
        try put(revision: 7)
    }

    /// Commits a revision with some bulk.
    func put(revision: UInt64, byteCount: Int = 10) throws {
        try Self.put(revision: revision, byteCount: byteCount, into: store)
    }

    private static func put(
        revision: UInt64, byteCount: Int, into store: RocksDBStore
    ) throws {
        var changes = ChangeSet()
        changes.put(RecordCodec.encode(revision), for: Key.revision, in: .meta)
        // Nothing that compression could make small.
        var (bulk, state) = ([UInt8](repeating: 0, count: byteCount), revision &+ 1)
        for index in bulk.indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bulk[index] = UInt8(truncatingIfNeeded: state >> 56)
        }
        changes.put(bulk, for: [UInt8(truncatingIfNeeded: revision)], in: .payloads)
        try store.commit(changes)
    }

    var maker: BackupMaker {
        var maker = BackupMaker(store: store, root: root, version: "1.2.3")
        maker.byteRateMax = 0
        return maker
    }

    /// A complete backup, begun `minutes` after noon.
    @discardableResult
    func make(_ name: String, minutes: Int64 = 0) throws -> BackupManifest {
        try maker.make(
            BackupName(name, in: root),
            at: Timestamp(milliseconds: Self.noon.milliseconds + minutes * 60_000), Self.noonText)
    }

    func path(_ name: String) -> String { root + "/" + name }

    /// Changes one byte of a file in the middle.
    func damage(_ path: String) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        data[data.count / 2] ^= 1
        try FileManager.default.removeItem(atPath: path)
        try data.write(to: URL(filePath: path))
    }

    /// A file of a backup's database, by the end of its name.
    func file(_ suffix: String, of name: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path(name) + "/store")
        guard let found = names.first(where: { $0.hasSuffix(suffix) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return path(name) + "/store/" + found
    }
}

extension StorageOptions {
    /// Little memory.
    static var small: StorageOptions {
        var options = StorageOptions()
        options.cacheByteCount = 1 << 20
        options.memtableByteCountMax = 1 << 20
        options.reserveByteCount = 1 << 20
        return options
    }
}
