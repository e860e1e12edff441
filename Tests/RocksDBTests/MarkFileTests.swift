import FoundationEssentials
import RocksDB
import Testing

@Suite struct MarkFileTests {
    private let path =
        FileManager.default.temporaryDirectory.path
        + "/mark-\(UUID().uuidString.lowercased())"

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    @Test func `what was set last is read, also after opening again`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try MarkFile.content(of: path) == .none)
        do {
            let mark = try MarkFile(path)
            #expect(try MarkFile.content(of: path) == .none)
            for number in [0, 7, UInt64.max, 300] {
                #expect(mark.set(number))
                #expect(try MarkFile.content(of: path) == .number(number))
            }
        }
        let again = try MarkFile(path)
        #expect(try MarkFile.content(of: path) == .number(300))
        again.set(301)
        #expect(try MarkFile.content(of: path) == .number(301))
    }

    @Test func `every flipped bit, a cut and an addition are no number`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try MarkFile(path).set(0x0102_0304)
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            try write(bytes)
            #expect(try MarkFile.content(of: path) == .unreadable)
        }
        for count in 1..<whole.count {
            try write(Array(whole.prefix(count)))
            #expect(try MarkFile.content(of: path) == .unreadable)
        }
        try write(whole + [0])
        #expect(try MarkFile.content(of: path) == .unreadable)
        try write([])
        #expect(try MarkFile.content(of: path) == .none)
    }

    @Test func `a file that cannot be made is said`() {
        #expect(throws: FileError.self) { try MarkFile("/nowhere/at/all") }
    }
}
