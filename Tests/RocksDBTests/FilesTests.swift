import RocksDB
import Testing

@Suite struct FilesTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    static let parents = [
        ("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("/", "/"), ("a", "."), ("a/b", "a"),
        ("./a", "."), ("/a//", "/"),
    ]

    @Test(arguments: parents)
    func `the parent of a path holds it`(path: String, parent: String) {
        #expect(Files.parent(of: path) == parent)
    }

    @Test func `a replaced file holds the new bytes and leaves nothing beside it`() throws {
        let path = directory.appending("mark")
        #expect(try Files.entry(at: path) == nil)
        try Files.replace(path, with: [1, 2, 3])
        try Files.replace(path, with: [4])
        #expect(try Files.read(path) == [4])
        #expect(try Files.names(in: directory.path) == ["mark"])
        #expect(try Files.byteCount(of: path) == 1)
        #expect(try Files.entry(at: path) == .other)
        #expect(try Files.entry(at: directory.path) == .directory)
    }

    @Test func `reading stops at its limit`() throws {
        let path = directory.appending("mark")
        try Files.replace(path, with: [1, 2, 3])
        #expect(try Files.read(path, byteCountMax: 2) == [1, 2])
        #expect(try Files.read(path, byteCountMax: 3) == [1, 2, 3])
    }

    @Test func `a missing file is not found, and one that exists is not made`() throws {
        let missing = directory.appending("missing")
        #expect(#expect(throws: FileError.self) { try Files.read(missing) }?.kind == .notFound)
        #expect(#expect(throws: FileError.self) { try Files.names(in: missing) }?.kind == .notFound)
        try Files.makeDirectory(missing)
        let error = #expect(throws: FileError.self) { try Files.makeDirectory(missing) }
        #expect(error?.kind == .exists)
        #expect(error?.description == "cannot make \(missing): File exists")
    }

    @Test func `the probe writes, and leaves nothing`() throws {
        try Files.probe(directory.path, byteCount: 100_000)
        #expect(try Files.names(in: directory.path) == [])
        #expect(throws: FileError.self) {
            try Files.probe(directory.appending("missing"), byteCount: 1)
        }
        #expect(try Files.freeByteCount(at: directory.path) > 0)
    }

    @Test func `a scratch directory goes, with what was put there`() throws {
        let path = try Files.withScratchDirectory(byteCount: 1) { path in
            #expect(throws: Never.self) { try Files.replace(path + "/x", with: [1]) }
            return path
        }
        #expect(try Files.entry(at: path) == nil)
        let error = #expect(throws: FileError.self) {
            try Files.withScratchDirectory(byteCount: .max) { _ in }
        }
        #expect(error?.kind == .noSpace)
    }
}
