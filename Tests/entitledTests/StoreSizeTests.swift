import FoundationEssentials
import Testing

@testable import entitled

@Suite struct StoreSizeTests {
    @Test func `files are added up by what they hold`() throws {
        try withTemporaryDirectory { directory in
            for (name, count) in [("1.sst", 5), ("2.sst", 7), ("3.log", 11), ("CURRENT", 13)] {
                try Data(repeating: 0, count: count).write(
                    to: URL(filePath: directory + "/" + name))
            }
            try FileManager.default.createDirectory(
                atPath: directory + "/d.sst", withIntermediateDirectories: false)
            try Data(repeating: 0, count: 17).write(to: URL(filePath: directory + "/d.sst/4.sst"))
            let size = StoreSize(directory: directory)
            #expect(size.tableByteCount == 29)
            #expect(size.logByteCount == 11)
            #expect(size.otherByteCount == 13)
        }
    }

    @Test func `a directory that is not there takes nothing`() {
        #expect(StoreSize(directory: "/nonexistent").tableByteCount == 0)
    }
}
