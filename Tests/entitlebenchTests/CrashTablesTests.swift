import Testing
import ToolSupport

@testable import entitlebench

@Suite struct CrashTablesTests {
    @Test func `tables are counted once, as merged when they are gone, and apart while unfinished`()
        throws
    {
        let directory = try ServerPlace.makeDirectory("entitlebench-test")
        defer { ServerPlace.removeDirectory(directory) }
        let end: [UInt8] = [0xF7, 0xCF, 0xF4, 0x85, 0xB7, 0x41, 0xE2, 0x88]
        var tables = CrashTables()
        tables.look(at: directory)
        #expect(tables == CrashTables())
        try CrashFiles.write([1, 2] + end, to: directory + "/000007.sst")
        try CrashFiles.write([1, 2, 3], to: directory + "/000009.sst")
        try CrashFiles.write([1, 2] + end, to: directory + "/000008.log")
        tables.look(at: directory)
        #expect(tables.seen == ["000007.sst"])
        #expect(tables.merged == [])
        #expect(tables.unfinishedCount == 1)
        CrashFiles.remove(directory + "/000007.sst")
        try CrashFiles.write([1, 2] + end, to: directory + "/000009.sst")
        tables.look(at: directory)
        tables.look(at: directory)
        #expect(tables.seen == ["000007.sst", "000009.sst"])
        #expect(tables.merged == ["000007.sst"])
        #expect(tables.unfinishedCount == 1)
    }
}
