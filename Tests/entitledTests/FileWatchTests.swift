import EventLoop
import Testing

@testable import entitled

@Suite struct FileWatchTests {
    /// What a test says that is on the disk.
    private final class Disk {
        var stamps: [String: FileStamp] = [:]
        var changes: [String] = []

        func stamp(_ number: Int64) -> FileStamp {
            FileStamp(device: 1, inode: 1, byteCount: 5, modified: number, changed: number, mode: 0)
        }
    }

    @Test func `a file that has changed is told once, one that is gone is not`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let disk = Disk()
        disk.stamps = ["a": disk.stamp(1)]
        let watched = ["a", "b"].map { path in
            FileWatch.Watched(path: path) { disk.changes.append(path) }
        }
        let watch = try FileWatch(
            on: loop, watched, everyMilliseconds: 60_000, stamp: { disk.stamps[$0] })
        watch.look()
        #expect(disk.changes.isEmpty)
        disk.stamps["a"] = disk.stamp(2)
        watch.look()
        watch.look()
        #expect(disk.changes == ["a"])
        disk.stamps["a"] = nil
        watch.look()
        disk.stamps["b"] = disk.stamp(1)
        watch.look()
        #expect(disk.changes == ["a", "b"])
        disk.stamps["a"] = disk.stamp(3)
        watch.noteAll()
        watch.look()
        #expect(disk.changes == ["a", "b"])
        watch.stop()
        loop.run()
    }

    @Test func `other files may be watched, and what one was like when it was read is kept`()
        throws
    {
        let loop = try Loop()
        defer { loop.close() }
        let disk = Disk()
        disk.stamps = ["a": disk.stamp(1), "b": disk.stamp(1), "c": disk.stamp(1)]
        func watched(_ paths: [String]) -> [FileWatch.Watched] {
            paths.map { path in FileWatch.Watched(path: path) { disk.changes.append(path) } }
        }
        let watch = try FileWatch(
            on: loop, watched(["a", "b"]), everyMilliseconds: 60_000,
            stamp: { disk.stamps[$0] })
        // Changed after it was read and before the list was: it must still be found.
        disk.stamps["a"] = disk.stamp(2)
        watch.replace(with: watched(["a", "c"]))
        disk.stamps["b"] = disk.stamp(2)
        watch.look()
        #expect(disk.changes == ["a"])
        disk.stamps["c"] = disk.stamp(2)
        watch.look()
        #expect(disk.changes == ["a", "c"])
        watch.stop()
        loop.run()
    }

    @Test func `the timer looks, and without files there is none`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let idle = try FileWatch(on: loop, [], everyMilliseconds: 1)
        // Returns at once: nothing holds the loop.
        loop.run()
        idle.stop()
        let disk = Disk()
        var watch: FileWatch?
        let watched = FileWatch.Watched(path: "a") {
            disk.changes.append("a")
            watch?.stop()
        }
        var asked: Int64 = 0
        watch = try FileWatch(
            on: loop, [watched], everyMilliseconds: 1,
            stamp: { _ in
                asked += 1
                return disk.stamp(asked)
            })
        loop.run()
        #expect(disk.changes == ["a"])
    }

    @Test func `a file that is replaced, written or given other permissions has another stamp`()
        throws
    {
        try withTemporaryDirectory { directory in
            let path = directory + "/f"
            #expect(SystemCalls.stamp(path) == nil)
            let file = try #require(AppendedFile(path: path))
            let first = try #require(SystemCalls.stamp(path))
            #expect(first.mode & 0o137 == 0)
            #expect(file.append([1]))
            let second = try #require(SystemCalls.stamp(path))
            #expect(first != second && second.byteCount == 1 && file.byteCount == 1)
            file.close()
            AppendedFile(path: path + "2")?.close()
            #expect(SystemCalls.rename(path + "2", to: path))
            #expect(SystemCalls.stamp(path) != second)
            #expect(!SystemCalls.rename(path + "3", to: path))
        }
    }
}
