import Testing

@testable import entitlebench

@Suite struct GateCountsTests {
    /// A counter's file with these names and rows.
    static func file(_ names: [String], _ rows: [[UInt64]]) -> [UInt8] {
        func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        }
        var file = Array("CALLCNT1".utf8) + bytes(UInt64(names.count), 4)
        file += bytes(UInt64(rows.count), 4) + [UInt8](repeating: 0, count: 48)
        for name in names {
            file += (Array(name.utf8) + [UInt8](repeating: 0, count: 32)).prefix(32)
        }
        for row in rows { for count in row { file += bytes(count, 8) } }
        return file
    }

    @Test func `rows are added up by name`() throws {
        let file = Self.file(["reads", "writes"], [[1, 1 << 40], [20, 3]])
        let counts = try #require(GateCounts(bytes: file))
        #expect(counts["reads"] == 21)
        #expect(counts["writes"] == (1 << 40) + 3)
        #expect(counts["waits"] == nil)
    }

    @Test func `what has been added is told kind by kind`() throws {
        let before = try #require(GateCounts(bytes: Self.file(["reads"], [[5]])))
        let after = try #require(GateCounts(bytes: Self.file(["reads", "waits"], [[9, 2]])))
        #expect(after.since(before).totals == ["reads": 4, "waits": 2])
    }

    @Test func `bytes that no counter has written are no counts`() {
        let file = Self.file(["reads"], [[1]])
        #expect(GateCounts(bytes: []) == nil)
        #expect(GateCounts(bytes: Array(file.dropLast())) == nil)
        #expect(GateCounts(bytes: [0] + file.dropFirst()) == nil)
        var manyKinds = file
        manyKinds[11] = 0xFF
        #expect(GateCounts(bytes: manyKinds) == nil)
        #expect(GateCounts(path: "/nowhere/at/all") == nil)
    }
}
