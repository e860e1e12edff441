import FoundationEssentials
import RocksDB
import Testing

@Suite struct LogCheckTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("db")
    }

    /// The bytes of a log with records of these value sizes, and where each record ends.
    private func log(_ valueByteCounts: [Int]) throws -> (bytes: [UInt8], ends: [Int]) {
        // Memory enough that all goes into one log.
        let database = try Database.small(path, memtableByteCountMax: 64 << 20)
        let log = try path + "/" + #require(logNames().last)
        var ends: [Int] = []
        for (index, byteCount) in valueByteCounts.enumerated() {
            let value = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) | 1 }
            try database.put(value, for: [UInt8(index)])
            ends.append(Int(try Files.byteCount(of: log)))
        }
        return (Array(try Data(contentsOf: URL(filePath: log))), ends)
    }

    private func logNames() throws -> [String] {
        try Files.names(in: path).filter { $0.hasSuffix(".log") }.sorted()
    }

    private func check(_ bytes: [UInt8]) throws -> LogCheck {
        let file = directory.appending("000001.log")
        try Data(bytes).write(to: URL(filePath: file))
        return try LogCheck(file: file)
    }

    /// Sizes that make records within one block, over two, over several, and one that leaves less
    /// than a header in its block.
    static let sizes = [10, 0, 300, 33_000, 5, 70_000, 32_768 - 200, 100, 2_000]

    @Test func `a log that ends with a record is whole, with all its changes`() throws {
        let (bytes, _) = try log(Self.sizes)
        let check = try check(bytes)
        #expect(check.end == .whole)
        #expect(check.recordCount == Self.sizes.count)
        #expect(check.firstSequence == 1)
        #expect(check.nextSequence == UInt64(Self.sizes.count) + 1)
    }

    @Test func `an empty log is whole and has no changes`() throws {
        let check = try check([])
        #expect(check.end == .whole)
        #expect(check.firstSequence == nil && check.nextSequence == nil)
    }

    @Test func `a batch counts as many changes as it holds`() throws {
        let database = try Database.small(path)
        var batch = WriteBatch()
        for byte in UInt8(0)..<5 { batch.put([1], for: [byte], in: otherFamily, of: database) }
        try database.write(batch, synced: true)
        let check = try LogCheck(file: path + "/" + #require(logNames().last))
        #expect(check.recordCount == 1)
        #expect(check.nextSequence == 6)
    }

    @Test func `a log cut anywhere holds the records before the cut, and an unfinished one`()
        throws
    {
        let (bytes, ends) = try log(Self.sizes)
        let cuts = Set(stride(from: 0, to: bytes.count, by: 1_499))
            .union(ends.flatMap { [$0 - 1, $0, $0 + 1, $0 + 6, $0 + 7, $0 + 8] })
        for cut in cuts.sorted() where cut <= bytes.count {
            let check = try check(Array(bytes[..<cut]))
            let whole = ends.filter { $0 <= cut }
            #expect(check.recordCount == whole.count, "cut at \(cut)")
            let start = whole.last ?? 0
            if cut == start {
                #expect(check.end == .whole, "cut at \(cut)")
            } else if case .unfinished(let offset, let byteCount) = check.end {
                // A filler that ends a block may lie between the records.
                #expect(Int(offset) >= start && Int(offset) - start < 7, "cut at \(cut)")
                #expect(Int(offset) + Int(byteCount) == cut)
            } else {
                // Nothing but the filler is left of the cut.
                #expect(check.end == .whole && cut - start < 7, "cut at \(cut): \(check.end)")
            }
        }
    }

    @Test func `a byte flipped before the last record is damage, wherever it is`() throws {
        let (bytes, ends) = try log(Self.sizes)
        let starts = [0] + ends.dropLast()
        let lastStart = try #require(starts.last)
        let offsets = Set(stride(from: 0, to: lastStart, by: 997))
            .union(starts.flatMap { start in (start..<(start + 20)) })
            .filter { $0 < lastStart }
        for offset in offsets.sorted() {
            var damaged = bytes
            damaged[offset] = ~damaged[offset]
            let check = try check(damaged)
            guard case .damaged(let found, _) = check.end else {
                Issue.record("flip at \(offset): \(check.end)")
                continue
            }
            // Found at the fragment that holds the byte, or at the next one when that begins a
            // record that the flipped type of this one has swallowed.
            #expect(Int(found) <= offset + 32_768)
            #expect(check.recordCount < Self.sizes.count)
        }
    }

    @Test func `a byte flipped in the last record is never passed over`() throws {
        let (bytes, ends) = try log(Self.sizes)
        for offset in ends[ends.count - 2]..<bytes.count where offset % 13 == 0 || offset < 30 {
            var damaged = bytes
            damaged[offset] = ~damaged[offset]
            let check = try check(damaged)
            #expect(check.recordCount == Self.sizes.count - 1)
            #expect(check.end != .whole, "flip at \(offset)")
        }
        var damaged = bytes
        damaged[bytes.count - 1] ^= 1
        guard case .damaged = try check(damaged).end else {
            Issue.record("a whole record with a wrong checksum was written once")
            return
        }
    }

    @Test func `sectors that were never written make the last record unfinished`() throws {
        let (bytes, ends) = try log([100, 5_000])
        var torn = bytes
        let sector = (ends[0] / 512 + 2) * 512
        torn.replaceSubrange(sector..<(sector + 512), with: repeatElement(0, count: 512))
        #expect(
            try check(torn).end
                == .unfinished(
                    offset: UInt64(ends[0]), byteCount: UInt64(bytes.count - ends[0])))
    }

    @Test(arguments: [16, 512, 40_000])
    func `zeros behind the last record are unfinished, zeros before one are damage`(
        count: Int
    ) throws {
        let (bytes, ends) = try log([100, 90_000, 200])
        let extended = try check(bytes + [UInt8](repeating: 0, count: count))
        #expect(extended.recordCount == 3)
        #expect(
            extended.end
                == .unfinished(offset: UInt64(bytes.count), byteCount: UInt64(count)))
        var damaged = bytes
        damaged.replaceSubrange(
            ends[0]..<(ends[0] + count), with: repeatElement(0, count: count))
        guard case .damaged = try check(damaged).end else {
            Issue.record("zeros over acknowledged records")
            return
        }
    }

    @Test func `a record that stands twice is damage`() throws {
        let (bytes, ends) = try log([10, 20, 30])
        let check = try check(bytes + bytes[ends[1]..<ends[2]])
        #expect(
            check.end
                == .damaged(
                    offset: UInt64(bytes.count), reason: "the numbers of the changes go back"))
    }

    @Test func `noise is never whole`() throws {
        var state: UInt64 = 1
        for byteCount in [1, 6, 7, 8, 100, 32_768, 70_000] {
            let noise = (0..<byteCount).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            let check = try check(noise)
            #expect(check.recordCount == 0)
            #expect(check.end != .whole, "\(byteCount) bytes")
        }
    }

    // MARK: Several logs

    /// A database with two logs, the older one held by the family "other".
    private func makeTwoLogs() throws -> [String] {
        let database = try Database.small(path, memtableByteCountMax: 64 << 20)
        try database.put([1], for: [1], in: otherFamily)
        for byte in UInt8(0)..<10 {
            try database.put([UInt8](repeating: byte, count: 100), for: [byte])
        }
        try database.flush(defaultFamily)
        for byte in UInt8(10)..<20 { try database.put([byte], for: [byte]) }
        let names = try logNames()
        #expect(names.count == 2)
        let image = directory.appending("image")
        try FileManager.default.copyItem(atPath: path, toPath: image)
        return names.map { image + "/" + $0 }
    }

    @Test func `logs that follow each other are whole`() throws {
        _ = try makeTwoLogs()
        let check = try LogDirectoryCheck(directory: directory.appending("image"))
        #expect(check.damage == nil && check.unfinished.isEmpty)
    }

    @Test func `an older log that ends early is damage when changes are missing before the next`()
        throws
    {
        let logs = try makeTwoLogs()
        let bytes = Array(try Data(contentsOf: URL(filePath: logs[0])))
        try Data(bytes.dropLast(5)).write(to: URL(filePath: logs[0]))
        let check = try LogDirectoryCheck(directory: directory.appending("image"))
        #expect(check.damage?.contains(logs[0]) == true)
        #expect(check.damage?.contains("changes 11 to 11 are missing") == true)
    }

    @Test func `an older log that ends in a failed write is no damage, and opens`() throws {
        let logs = try makeTwoLogs()
        let bytes = Array(try Data(contentsOf: URL(filePath: logs[0])))
        // The head of a record of 100 bytes that was not written to its end.
        let head: [UInt8] = [1, 2, 3, 4, 100, 0, 1] + [UInt8](repeating: 7, count: 30)
        try Data(bytes + head).write(to: URL(filePath: logs[0]))
        let image = directory.appending("image")
        let check = try LogDirectoryCheck(directory: image)
        #expect(check.damage == nil)
        #expect(check.unfinished.count == 1)
        let database = try Database.small(image, creates: false, recovery: .pointInTime)
        for byte in UInt8(10)..<20 { #expect(try database.copy(of: [byte]) == [byte]) }
        #expect(try database.copy(of: [1], in: otherFamily) == [1])
    }

    @Test func `a directory without logs has nothing to say, and one that is missing throws`()
        throws
    {
        #expect(try LogDirectoryCheck(directory: directory.path).damage == nil)
        let error = #expect(throws: FileError.self) { try LogDirectoryCheck(directory: path) }
        #expect(error?.kind == .notFound)
    }
}
