import FoundationEssentials
import RocksDB
import RocksDBStorage
import Storage
import Testing

/// The mark beside the database: data that end before what was acknowledged are refused.
@Suite struct AcknowledgedMarkTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("data")
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

    /// A crash image whose log ends behind the first `count` of `total` acknowledged records.
    private func image(
        cutBehind count: UInt8, of total: UInt8
    ) throws -> (image: String, log: String) {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in 0..<count { try store.put([[byte]]) }
        let log = try newestLog(in: path)
        let byteCount = DiskFault.status(of: log).byteCount
        for byte in count..<total { try store.put([[byte]]) }
        let image = try crashImage()
        let copy = try newestLog(in: image)
        DiskFault.cut(copy, by: DiskFault.status(of: copy).byteCount - byteCount)
        return (image, copy)
    }

    /// Between two records a cut log looks whole: only the mark knows that there was more.
    @Test func `a log cut between two records refuses, and nothing is changed`() throws {
        let (image, log) = try image(cutBehind: 15, of: 20)
        let before = try Files.names(in: image + "/store")
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) {
                try RocksDBStore(directory: image, options: .small)
            }
            guard case .damaged(let message) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(message.contains(log))
            #expect(message.contains("ACKNOWLEDGED"))
        }
        #expect(try Files.names(in: image + "/store") == before)
        // Whoever gives the rest up says so by removing the file that the message names.
        try FileManager.default.removeItem(atPath: image + "/ACKNOWLEDGED")
        let store = try RocksDBStore(directory: image, options: .small)
        #expect(try store.keys(.customers) == (UInt8(0)..<15).map { [$0] })
    }

    @Test func `a log that is missing refuses, whether it was the last or not`() throws {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in UInt8(0)..<20 { try store.put([[byte]]) }
        let image = try crashImage()
        try FileManager.default.removeItem(atPath: newestLog(in: image))
        let before = try Files.names(in: image + "/store")
        #expect(throws: StorageError.self) {
            try RocksDBStore(directory: image, options: .small)
        }
        #expect(try Files.names(in: image + "/store") == before)
    }

    @Test func `a store without a mark, or with one that cannot be read, opens`() throws {
        let store = try RocksDBStore(directory: path, options: .small)
        for byte in UInt8(0)..<3 { try store.put([[byte]]) }
        let image = try crashImage()
        for content: [UInt8]? in [nil, [], [1, 2, 3]] {
            let notices = RocksDBStoreFaultTests.Notices()
            let mark = image + "/ACKNOWLEDGED"
            try FileManager.default.removeItem(atPath: mark)
            if let content { try Data(content).write(to: URL(filePath: mark)) }
            let copy = try RocksDBStore(directory: image, options: notices.options)
            #expect(try copy.keys(.customers).count == 3)
            #expect(notices.all.count == (content?.isEmpty == false ? 1 : 0))
            #expect(try MarkFile.content(of: mark) == .number(4))
        }
    }

    @Test func `the mark follows every commit, and with an interval every sync`() async throws {
        let mark = path + "/ACKNOWLEDGED"
        do {
            let store = try RocksDBStore(directory: path, options: .small)
            for byte in UInt8(0)..<3 {
                try store.put([[byte]])
                #expect(try MarkFile.content(of: mark) == .number(UInt64(byte) + 2))
            }
        }
        var options = StorageOptions.small
        options.sync = .interval(milliseconds: 5)
        let store = try RocksDBStore(directory: path, options: options)
        try store.put([[9]])
        for _ in 0..<2_000 where try MarkFile.content(of: mark) != .number(5) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try MarkFile.content(of: mark) == .number(5))
        #expect(try store.keys(.customers).count == 4)
    }
}
