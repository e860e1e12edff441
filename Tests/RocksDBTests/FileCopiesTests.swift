import FoundationEssentials
import RocksDB
import Testing

@Suite struct FileCopiesTests {
    @Test func `a file is read in pieces and written as it was`() throws {
        let directory = try TemporaryDirectory()
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var writing = try FileWriting(new: directory.appending("a"))
        try writing.append(Array(bytes[..<4_000]))
        try writing.append(Array(bytes[4_000...]))
        try writing.finish()
        var reading = try FileReading(directory.appending("a"))
        var found: [UInt8] = []
        while true {
            let piece = try reading.next(byteCountMax: 777)
            if piece.isEmpty { break }
            #expect(piece.count <= 777)
            found += piece
        }
        #expect(found == bytes)
    }

    @Test func `a link and a directory are no files, and nothing is written over`() throws {
        let directory = try TemporaryDirectory()
        try Files.replace(directory.appending("a"), with: [1])
        try FileManager.default.createSymbolicLink(
            atPath: directory.appending("link"), withDestinationPath: directory.appending("a"))
        for name in ["link", "."] {
            #expect(throws: FileError.self) { _ = try FileReading(directory.appending(name)) }
        }
        #expect(throws: FileError.self) { _ = try FileWriting(new: directory.appending("a")) }
        #expect(try Files.read(directory.appending("a")) == [1])
    }

    @Test func `a tree goes with all that is in it, and what a link names stays`() throws {
        let directory = try TemporaryDirectory()
        try Files.makeDirectory(directory.appending("kept"))
        try Files.replace(directory.appending("kept/a"), with: [1])
        try Files.makeDirectory(directory.appending("tree"))
        try Files.makeDirectory(directory.appending("tree/inner"))
        try Files.replace(directory.appending("tree/inner/b"), with: [1])
        try FileManager.default.createSymbolicLink(
            atPath: directory.appending("tree/link"),
            withDestinationPath: directory.appending("kept"))
        try Files.removeTree(directory.appending("tree"))
        #expect(try Files.entry(at: directory.appending("tree")) == nil)
        #expect(try Files.read(directory.appending("kept/a")) == [1])
        try Files.removeTree(directory.appending("tree"))
    }

    @Test func `a tree deeper than was said stays`() throws {
        let directory = try TemporaryDirectory()
        var path = directory.appending("tree")
        for _ in 0..<6 {
            try Files.makeDirectory(path)
            path += "/a"
        }
        #expect(throws: FileError.self) { try Files.removeTree(directory.appending("tree")) }
        #expect(try Files.entry(at: directory.appending("tree")) == .directory)
    }

    @Test func `a pace holds to its rate`() {
        let clock = ContinuousClock()
        let start = clock.now
        var pace = CopyPace(byteRateMax: 10_000_000)
        for _ in 0..<5 { pace.passed(100_000) }
        #expect(clock.now - start >= .milliseconds(45))
    }

    @Test func `a change is dated`() throws {
        let directory = try TemporaryDirectory()
        try Files.replace(directory.appending("a"), with: [1])
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
            ofItemAtPath: directory.appending("a"))
        let milliseconds = try Files.modifiedMilliseconds(of: directory.appending("a"))
        #expect(milliseconds == 1_700_000_000_000)
        #expect(throws: FileError.self) {
            try Files.modifiedMilliseconds(of: directory.appending("b"))
        }
    }
}
