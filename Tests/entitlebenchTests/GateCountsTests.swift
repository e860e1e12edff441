import FoundationEssentials
import Testing
import ToolSupport

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

    /// Where the build puts the library: beside the tests.
    private static let counter: String = {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let directory = tests.split(separator: "/").dropLast().joined(separator: "/")
        return "/\(directory)/\(GateCommand.usualCounter)"
    }()

    @Test(.enabled(if: FileManager.default.fileExists(atPath: counter), "it is not built"))
    func `a program that the counter is loaded into has its calls counted`() async throws {
        let directory = try SeedDirectory()
        let path = directory.appending("counts")
        let child = try ChildProcess(
            program: "/bin/sh", arguments: ["-c", "echo 123456789"],
            environment: ["LD_PRELOAD": Self.counter, "CALL_COUNTER_FILE": path],
            outputPath: directory.appending("out"), errorPath: directory.appending("err"))
        #expect(await child.waitForEnd() == .exit(0))
        let bytes = try #require(FileManager.default.contents(atPath: path))
        let counts = try #require(GateCounts(bytes: Array(bytes)))
        #expect(counts["allocations"] ?? 0 > 0)
        #expect(counts["allocatedBytes"] ?? 0 >= counts["allocations"] ?? .max)
        #expect(counts["writes"] == 1)
        #expect(counts["fileBytes"] == 10)
        #expect(counts["syncs"] == 0)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: counter), "it is not built"))
    func `without a file to count in the counter changes nothing`() async throws {
        let directory = try SeedDirectory()
        let child = try ChildProcess(
            program: "/bin/sh", arguments: ["-c", "echo 123456789"],
            environment: ["LD_PRELOAD": Self.counter],
            outputPath: directory.appending("out"), errorPath: directory.appending("err"))
        #expect(await child.waitForEnd() == .exit(0))
        let output = FileManager.default.contents(atPath: directory.appending("out"))
        #expect(output.map { Array($0) } == Array("123456789\n".utf8))
        #expect(FileManager.default.contents(atPath: directory.appending("err"))?.isEmpty == true)
    }
}
