import FoundationEssentials
import RocksDBStorage
import ToolSupport
import Testing

@testable import entitlebench

@Suite struct ScaleProbeTests {
    private let directory: SeedDirectory

    init() throws { directory = try SeedDirectory() }

    @Test func `bare reads find everybody of a bulk store, and miss whoever is not in it`() throws {
        let path = directory.appending("data")
        try BulkLoad(
            plan: SeedPlan(customerCount: 60), app: SeedApp(), directory: path, threadCount: 1,
            receivedMilliseconds: SeedFixture.now
        ).run()
        let one = try ScaleProbe.nanoseconds(
            SeedPlan(customerCount: 60), directory: path, seconds: 0.02)
        #expect(one > 0)
        #expect(throws: CommandFailure.self) {
            try ScaleProbe.nanoseconds(
                SeedPlan(customerCount: 600), directory: path, seconds: 0.02)
        }
        #expect(ScaleProbe.byteCount(of: path) > 10_000)
        #expect(throws: CommandFailure.self) {
            try ScaleProbe.nanoseconds(
                SeedPlan(customerCount: 6), directory: directory.path, seconds: 0.02)
        }
    }

    @Test func `the time of warming stands in the log`() throws {
        let path = directory.appending("log")
        #expect(ScaleProbe.warmMilliseconds(in: path) == nil)
        try SystemCalls.writeFile(path, Array("level=info msg=start duration_ms=3\n".utf8))
        #expect(ScaleProbe.warmMilliseconds(in: path) == nil)
        let line = "level=info msg=warm customers=20000 duration_ms=57\n"
        try SystemCalls.writeFile(path, Array(("x\n" + line).utf8))
        #expect(ScaleProbe.warmMilliseconds(in: path) == 57)
    }

    @Test func `this process has memory in use, and none of number 0 has`() {
        let own = ProcessInfo.processInfo.processIdentifier
        #expect(ScaleProbe.residentByteCount(of: own) > 1 << 20)
        #expect(ScaleProbe.residentByteCount(of: 0) == 0)
    }
}
