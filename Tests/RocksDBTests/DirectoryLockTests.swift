import RocksDB
import Testing

@Suite struct DirectoryLockTests {
    @Test func `a lock is held once, names its holder, and is free afterwards`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("LOCK")
        #expect(DirectoryLock.holder(of: path) == nil)
        do {
            let lock = try DirectoryLock(file: path)
            #expect(DirectoryLock.holder(of: path) ?? 0 > 1)
            let error = #expect(throws: FileError.self) { _ = try DirectoryLock(file: path) }
            #expect(error?.kind == .locked)
            _ = consume lock
        }
        _ = try DirectoryLock(file: path)
    }

    @Test(arguments: ["", "x\n", "-\n", "99999999999999999999\n"])
    func `a lock file of nobody names nobody`(text: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("LOCK")
        try Files.replace(path, with: Array(text.utf8))
        #expect(DirectoryLock.holder(of: path) == nil)
        _ = try DirectoryLock(file: path)
    }
}
