#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file that is read from its start to its end, a piece at a time.
package struct FileReading: ~Copyable {
    private let file: OpenFile
    private var offset: Int64 = 0

    /// Opens a regular file; a link is none.
    ///
    /// - Throws: `FileError`, also for what is no regular file.
    package init(_ path: String) throws(FileError) {
        let file = try OpenFile(path, flags: OpenFile.readOnly | O_NOFOLLOW)
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else { throw FileError("look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileError("read as a regular file", path, code: EINVAL)
        }
        self.file = file
    }

    /// The next bytes, at most `byteCountMax` of them; none at the end.
    package mutating func next(byteCountMax: Int) throws(FileError) -> [UInt8] {
        let bytes = try file.bytes(at: offset, byteCountMax: byteCountMax)
        offset += Int64(bytes.count)
        return bytes
    }
}

/// A new file that is written from its start to its end.
package struct FileWriting: ~Copyable {
    private let file: OpenFile

    /// Makes a file for its owner only; there is none of this name yet.
    package init(new path: String) throws(FileError) {
        file = try OpenFile(path, flags: O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Appends all of `bytes`.
    package mutating func append(_ bytes: [UInt8]) throws(FileError) { try file.append(bytes) }

    /// Puts the file on disk and closes it.
    package consuming func finish() throws(FileError) { try file.sync() }
}

extension Files {
    /// Removes a directory with all that is in it, links not followed; a missing one is no error.
    ///
    /// - Parameters:
    ///   - path: What is removed.
    ///   - depthMax: How many levels of directories there may be: a store has two.
    /// - Throws: `FileError`; a part may be gone then.
    package static func removeTree(_ path: String, depthMax: Int = 4) throws(FileError) {
        if unsafe unlink(path) == 0 || errno == ENOENT { return }
        guard depthMax > 0 else { throw FileError("remove", path, code: ENOTEMPTY) }
        for name in try names(in: path) {
            try removeTree(path + "/" + name, depthMax: depthMax - 1)
        }
        guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw FileError("remove", path) }
    }
}

extension Files {
    /// When the entry at `path` was last changed, in milliseconds since 1970.
    package static func modifiedMilliseconds(of path: String) throws(FileError) -> Int64 {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileError("look at", path) }
        return Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
    }
}

/// Holds a thread that reads or copies much to so many bytes a second, so that it leaves the disk
/// to others.
package struct CopyPace: ~Copyable {
    private let byteRateMax: UInt64
    private let start = ContinuousClock.now
    private var byteCount: UInt64 = 0

    /// A pace that begins now.
    ///
    /// - Parameter byteRateMax: Bytes a second; 0: as fast as it goes.
    package init(byteRateMax: UInt64) { self.byteRateMax = byteRateMax }

    /// Counts bytes that were read, and waits until the rate allows for them.
    package mutating func passed(_ count: Int) {
        guard byteRateMax > 0 else { return }
        byteCount += UInt64(count)
        let due = Duration.nanoseconds(
            Int64(clamping: byteCount.multipliedReportingOverflow(by: 1_000).partialValue)
                / Int64(byteRateMax) * 1_000_000)
        let (seconds, attoseconds) = (due - (ContinuousClock.now - start)).components
        guard seconds >= 0, attoseconds > 0 else { return }
        var pause = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        unsafe nanosleep(&pause, nil)
    }
}
