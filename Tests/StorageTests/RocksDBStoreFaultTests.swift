import FoundationEssentials
import RocksDB
import RocksDBStorage
import Storage
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Crashes, damage and full disks: what was acknowledged stays, and nothing is lost in silence.
@Suite struct RocksDBStoreFaultTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("data")
    }

    /// What a store said to its operator.
    final class Notices: Sendable {
        private let list = Mutex<[StorageNotice]>([])

        var all: [StorageNotice] { list.withLock { $0 } }

        var options: StorageOptions {
            var options = StorageOptions.small
            options.onNotice = { notice in self.list.withLock { $0.append(notice) } }
            return options
        }
    }

    /// A copy of the store's files as they are now: what a crash would leave.
    private func crashImage(_ name: String = "image") throws -> String {
        let image = directory.appending(name)
        try FileManager.default.copyItem(atPath: path, toPath: image)
        return image
    }

    private func newestLog(in image: String) throws -> String {
        let logs = try Files.names(in: image + "/store").filter { $0.hasSuffix(".log") }
        return try image + "/store/" + #require(logs.max())
    }

    // MARK: Crashes

    @Test func `every commit is in the files when it returns`() throws {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in UInt8(0)..<10 {
            try store.put([[byte]], value: [UInt8](repeating: byte, count: 700))
            let image = try crashImage("image\(byte)")
            let copy = try RocksDBStore(directory: image, options: .small)
            #expect(try copy.records(.customers) == store.records(.customers))
            #expect(try copy.keys(.customers).count == Int(byte) + 1)
        }
    }

    /// K1 (i). The process dies in the middle of commits; each commit puts two records, and adds
    /// its number to a file once it was acknowledged.
    @Test(arguments: 0..<12)
    func `a killed process loses no acknowledged commit and keeps no part of one`(
        round: Int
    ) async throws {
        let acknowledged = directory.appending("acknowledged")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, acknowledged = acknowledged as String, round = round as Int] in
            let store = try RocksDBStore(directory: path, options: .small)
            let killer = PeriodicTask(everyMilliseconds: UInt64(5 + round * 7)) {
                DiskFault.crash()
            }
            for number in UInt32(0)... {
                var changes = ChangeSet()
                let key = number.bigEndianBytes
                changes.put([1], for: key, in: .notifications)
                changes.put([UInt8](repeating: 9, count: 5_000), for: key, in: .payloads)
                try store.commit(changes)
                DiskFault.append(key, to: acknowledged)
            }
            withExtendedLifetime(killer) {}
        }
        let count = DiskFault.status(of: acknowledged).byteCount / 4
        let store = try RocksDBStore(directory: path, options: .small)
        let notifications = try store.keys(.notifications)
        #expect(notifications.count >= count, "acknowledged \(count)")
        #expect(notifications.count <= count + 1)
        #expect(try store.keys(.payloads) == notifications)
        #expect(notifications == (0..<UInt32(notifications.count)).map(\.bigEndianBytes))
    }

    // MARK: Damaged logs

    /// K2 (a). The last record was being written when the machine stopped.
    @Test(arguments: [1, 7, 100, 2_000, 4_999])
    func `an unfinished last record is left out, said, and all before it is there`(
        cutByteCount: Int
    ) throws {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in UInt8(0)..<20 { try store.put([[byte]]) }
        let mark = try Data(contentsOf: URL(filePath: path + "/ACKNOWLEDGED"))
        try store.put([[20]], value: [UInt8](repeating: 7, count: 5_000))
        let image = try crashImage()
        let log = try newestLog(in: image)
        DiskFault.cut(log, by: cutByteCount)
        // As it stood before the last one was acknowledged.
        try mark.write(to: URL(filePath: image + "/ACKNOWLEDGED"))

        let notices = Notices()
        do {
            let copy = try RocksDBStore(directory: image, options: notices.options)
            #expect(try copy.keys(.customers) == (UInt8(0)..<20).map { [$0] })
            #expect(notices.all.count == 1)
            #expect(notices.all.first?.description.contains(log) == true)
            try copy.put([[99]])
        }
        // The next start has nothing to say, and lacks nothing.
        let again = try RocksDBStore(directory: image, options: notices.options)
        #expect(try again.keys(.customers) == (UInt8(0)..<20).map { [$0] } + [[99]])
        #expect(notices.all.count == 1)
    }

    /// K2 (b). RocksDB itself opens most of these and drops what lies behind the damage.
    @Test(arguments: [0, 4, 5, 6, 7, 30, 200, 20_000, 40_000])
    func `a flipped byte before acknowledged records refuses, naming the file`(
        offset: Int
    ) throws {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in UInt8(0)..<100 {
            try store.put([[byte]], value: [UInt8](repeating: byte, count: 600))
        }
        let image = try crashImage()
        let log = try newestLog(in: image)
        DiskFault.flipByte(at: offset, of: log)
        let before = try Data(contentsOf: URL(filePath: log))

        let error = #expect(throws: StorageError.self) {
            try RocksDBStore(directory: image, options: .small)
        }
        guard case .damaged(let message) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(message.contains(log))
        #expect(try Data(contentsOf: URL(filePath: log)) == before, "no file is cut")
        // With the byte put right all is there.
        DiskFault.flipByte(at: offset, of: log)
        let copy = try RocksDBStore(directory: image, options: .small)
        #expect(try copy.keys(.customers).count == 100)
    }

    @Test func `a flipped byte in a table is found when it is read`() throws {
        do {
            let store = try RocksDBStore(directory: path, options: .small)
            for byte in UInt8(0)..<100 {
                try store.put([[byte]], value: [UInt8](repeating: byte, count: 60))
            }
        }
        // Opening moves the log into tables.
        try RocksDBStore(directory: path, options: .small).close()
        let tables = try Files.names(in: path + "/store").filter { $0.hasSuffix(".sst") }
        for table in tables { DiskFault.flipByte(at: 40, of: path + "/store/" + table) }
        let error = #expect(throws: StorageError.self) {
            let store = try RocksDBStore(directory: path, options: .small)
            _ = try store.keys(.customers)
        }
        guard case .damaged(let message) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(message.contains(".sst"))
    }

    @Test func `damage that a read finds is told once and stays known`() throws {
        do {
            let store = try RocksDBStore(directory: path, options: .small)
            for number in UInt32(0)..<2_000 {
                try store.put([number.bigEndianBytes], value: [UInt8](repeating: 1, count: 60))
            }
        }
        try RocksDBStore(directory: path, options: .small).close()
        let tables = try Files.names(in: path + "/store").filter { $0.hasSuffix(".sst") }
            .sorted {
                DiskFault.status(of: path + "/store/" + $0).byteCount
                    < DiskFault.status(of: path + "/store/" + $1).byteCount
            }
        let table = try path + "/store/" + #require(tables.last)
        DiskFault.flipByte(at: 40, of: table)
        let notices = Notices()
        let store = try RocksDBStore(directory: path, options: notices.options)
        #expect(store.readProblem == nil)
        for _ in 0..<2 {
            #expect(throws: StorageError.self) { try store.keys(.customers) }
            store.withSnapshot { snapshot in
                _ = #expect(throws: StorageError.self) { try snapshot.keys(.customers) }
            }
        }
        #expect(store.readProblem?.contains(".sst") == true)
        #expect(
            notices.all.count {
                if case .readsFailing = $0 { true } else { false }
            } == 1)
        // What is not damaged is still served.
        #expect(try store.value(for: UInt32(1_999).bigEndianBytes, in: .customers) != nil)
    }

    @Test func `a missing table refuses, naming it`() throws {
        try RocksDBStore(directory: path, options: .small).close()
        do {
            let store = try RocksDBStore(directory: path, options: .small)
            try store.put([[1]])
        }
        try RocksDBStore(directory: path, options: .small).close()
        let tables = try Files.names(in: path + "/store").filter { $0.hasSuffix(".sst") }
        let table = try #require(tables.max())
        try FileManager.default.removeItem(atPath: path + "/store/" + table)
        let error = #expect(throws: StorageError.self) {
            try RocksDBStore(directory: path, options: .small)
        }
        guard case .damaged(let message) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(message.contains(table.dropLast(4)), "RocksDB tries an old suffix as well")
    }

    // MARK: A disk that refuses

    /// The limit on file sizes stands in for a failing disk; it works without any rights.
    @Test func `while writes fail reads go on, and writes resume by themselves`() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let notices = Notices()
            let store = try RocksDBStore(directory: path, options: notices.options)
            try store.put([[1]], value: [1])
            DiskFault.limitFileSize(to: 64 << 10)
            let large = [UInt8](repeating: 7, count: 200 << 10)
            for _ in 0..<3 {
                #expect(throws: StorageError.self) { try store.put([[1], [2]], value: large) }
                #expect(!store.isWritable)
                #expect(try store.records(.customers) == [Record(key: [1], value: [1])])
            }
            #expect(notices.all.count == 1)
            DiskFault.limitFileSize(to: nil)
            try store.put([[2]], value: large)
            #expect(store.isWritable)
            #expect(notices.all.last == .writesResumed)
            let expected = [Record(key: [1], value: [1]), Record(key: [2], value: large)]
            #expect(try store.records(.customers) == expected)
            store.close()
            let again = try RocksDBStore(directory: path, options: notices.options)
            #expect(try again.records(.customers) == expected)
            again.close()
        }
    }

    @Test func `a process that failed 16 times keeps reading and asks for a restart`()
        async throws
    {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try RocksDBStore(directory: path, options: .small)
            try store.put([[1]], value: [1])
            let large = [UInt8](repeating: 7, count: 200 << 10)
            for _ in 0..<16 {
                DiskFault.limitFileSize(to: 64 << 10)
                #expect(throws: StorageError.self) { try store.put([[1]], value: large) }
                DiskFault.limitFileSize(to: nil)
                _ = try? store.put([[2]], value: [2])
            }
            let error = #expect(throws: StorageError.self) { try store.put([[3]]) }
            guard case .unavailable(let message) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(message.contains("restart the server"))
            #expect(try store.value(for: [1], in: .customers) == [1])
            #expect(!store.isWritable)
        }
    }

    /// With a reserve commits stop before RocksDB meets the end of the disk; without one it does.
    @Test(arguments: [UInt64(2 << 20), 0])
    func `a full disk stops writes only, until there is space again`(
        reserveByteCount: UInt64
    ) throws {
        try Files.makeDirectory(path)
        guard let disk = SmallFileSystem(on: path, byteCount: 24 << 20) else { return }
        defer { withExtendedLifetime(disk) {} }
        let notices = Notices()
        var options = notices.options
        options.reserveByteCount = reserveByteCount
        let store = try RocksDBStore(directory: path + "/data", options: options)
        let filler = path + "/filler"
        DiskFault.append([UInt8](repeating: 1, count: 12 << 20), to: filler)

        var random = SplitMix(state: 5)
        var expected: [Record] = []
        var failure: StorageError?
        for number in UInt32(0)..<200 {
            let value = (0..<25_000).map { _ in random.next() }.flatMap(\.bytes)
            do throws(StorageError) {
                try store.put([number.bigEndianBytes], value: value, in: .payloads)
                expected.append(Record(key: number.bigEndianBytes, value: value))
            } catch {
                failure = error
                break
            }
        }
        guard case .unavailable = failure else {
            Issue.record("unexpected \(String(describing: failure))")
            return
        }
        for _ in 0..<3 {
            #expect(throws: StorageError.self) { try store.put([[9]], in: .payloads) }
            #expect(try store.records(.payloads) == expected)
        }
        #expect(!store.isWritable)
        #expect(notices.all.count == 1)

        try FileManager.default.removeItem(atPath: filler)
        try store.put([[0xFF]], value: [1], in: .payloads)
        expected.append(Record(key: [0xFF], value: [1]))
        #expect(store.isWritable)
        #expect(try store.records(.payloads) == expected)
        store.close()
        let again = try RocksDBStore(directory: path + "/data", options: options)
        #expect(try again.records(.payloads) == expected)
        again.close()
    }

    /// Both kinds of trouble: commits that the reserve refused, and a write that the disk did.
    @Test(arguments: [UInt64(2 << 20), 0])
    func `when there is space again a try without a commit finds it`(
        reserveByteCount: UInt64
    ) throws {
        try Files.makeDirectory(path)
        guard let disk = SmallFileSystem(on: path, byteCount: 24 << 20) else { return }
        defer { withExtendedLifetime(disk) {} }
        let notices = Notices()
        var options = notices.options
        options.reserveByteCount = reserveByteCount
        let store = try RocksDBStore(directory: path + "/data", options: options)
        let filler = DiskFault.fillDisk(path)
        #expect(throws: StorageError.self) {
            try store.put([[1]], value: [UInt8](repeating: 1, count: 4 << 20))
        }
        store.tryWriting()
        #expect(!store.isWritable && notices.all.count == 1)

        try FileManager.default.removeItem(atPath: filler)
        store.tryWriting()
        #expect(store.isWritable)
        #expect(notices.all.last == .writesResumed)
        #expect(try store.keys(.customers).isEmpty)
        store.close()
        store.tryWriting()
        #expect(throws: StorageError.self) { try store.put([[2]]) }
    }

    /// K6.
    @Test func `a start on a full disk reads, refuses writes, and loses nothing`() throws {
        try Files.makeDirectory(path)
        guard let disk = SmallFileSystem(on: path, byteCount: 16 << 20) else { return }
        defer { withExtendedLifetime(disk) {} }
        let data = path + "/data"
        do {
            let store = try RocksDBStore(directory: data, options: .small)
            for byte in UInt8(0)..<50 {
                try store.put([[byte]], value: [UInt8](repeating: byte, count: 2_000))
            }
        }
        let filler = DiskFault.fillDisk(path)
        let notices = Notices()
        for round in 1...2 {
            let store = try RocksDBStore(directory: data, options: notices.options)
            #expect(try store.keys(.customers).count == 50)
            #expect(!store.isWritable)
            #expect(notices.all.count == round)
            #expect(throws: StorageError.self) { try store.put([[51]]) }
            store.close()
        }
        let store = try RocksDBStore(directory: data, options: .small)
        try FileManager.default.removeItem(atPath: filler)
        try store.put([[51]])
        #expect(store.isWritable)
        #expect(try store.keys(.customers).count == 51)
        store.close()
    }

    @Test func `a store is not begun on a full disk`() throws {
        try Files.makeDirectory(path)
        guard let disk = SmallFileSystem(on: path, byteCount: 4 << 20) else { return }
        defer { withExtendedLifetime(disk) {} }
        let filler = DiskFault.fillDisk(path)
        let error = #expect(throws: StorageError.self) {
            try RocksDBStore(directory: path + "/data", options: .small)
        }
        guard case .unavailable(let message) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(message.contains("No space left on device"))
        try FileManager.default.removeItem(atPath: filler)
        let store = try RocksDBStore(directory: path + "/data", options: .small)
        try store.put([[1]])
        store.close()
    }
}

extension UInt64 {
    /// Eight bytes, in no order that matters.
    var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}

extension UInt32 {
    /// Four bytes, the most significant first.
    var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
