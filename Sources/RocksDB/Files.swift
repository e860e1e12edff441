#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file operation that the operating system refused.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the operating system's answer means to a store.
    package enum Kind: Equatable, Sendable {
        case notFound, exists, noPermission, noSpace, locked, other
    }

    /// What was attempted, as in "cannot OPERATION PATH".
    package let operation: String
    /// On which file.
    package let path: String
    /// The `errno`.
    package let code: Int32

    /// The error that `errno` holds now.
    init(_ operation: String, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// What the code means to a store.
    package var kind: Kind {
        switch code {
        case ENOENT: .notFound
        case EEXIST: .exists
        case EACCES, EPERM, EROFS: .noPermission
        case ENOSPC, EDQUOT: .noSpace
        case EWOULDBLOCK: .locked
        default: .other
        }
    }

    package var description: String {
        let reason = unsafe String(cString: strerror(code))
        return "cannot \(operation) \(path): \(reason)"
    }
}

/// The few file operations around a store: the layout of its directory, its marks and its probe.
package enum Files {
    /// What stands at a path.
    package enum Entry: Sendable {
        case directory, other
    }

    /// What stands at `path`, links followed; nil when nothing does.
    package static func entry(at path: String) throws(FileError) -> Entry? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw FileError("look at", path)
        }
        return status.st_mode & S_IFMT == S_IFDIR ? .directory : .other
    }

    /// The names in a directory, in no order, without "." and "..".
    package static func names(in directory: String) throws(FileError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw FileError("list", directory) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw FileError("list", directory) }
        return names
    }

    /// Makes a directory that only its owner can use.
    package static func makeDirectory(_ path: String) throws(FileError) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw FileError("make", path) }
    }

    /// Removes a file or an empty directory; a missing one is no error.
    package static func remove(_ path: String) throws(FileError) {
        let isGone = unsafe rmdir(path) == 0 || unlink(path) == 0 || errno == ENOENT
        guard isGone else {
            throw FileError("remove", path)
        }
    }

    /// - Throws: unless this process may read, write and search `directory`.
    package static func checkAccess(to directory: String) throws(FileError) {
        guard unsafe access(directory, R_OK | W_OK | X_OK) == 0 else {
            throw FileError("read and write", directory)
        }
    }

    /// The bytes of a small file, at most `byteCountMax` of them.
    package static func read(
        _ path: String, byteCountMax: Int = 4 << 10
    ) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path, flags: OpenFile.readOnly)
        return try file.bytes(at: 0, byteCountMax: byteCountMax)
    }

    /// Puts `bytes` at `path` so that a crash leaves the old file or the new one, never a part.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let new = path + ".new"
        let file = try OpenFile(new, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try file.append(bytes)
        try file.sync()
        guard unsafe rename(new, path) == 0 else { throw FileError("replace", path) }
        try syncDirectory(parent(of: path))
    }

    /// Puts the names in a directory on disk.
    package static func syncDirectory(_ path: String) throws(FileError) {
        try OpenFile(path, flags: O_RDONLY | O_DIRECTORY).sync()
    }

    /// The bytes that this process may still write on the file system of `path`.
    package static func freeByteCount(at path: String) throws(FileError) -> UInt64 {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw FileError("look at", path) }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// Tries whether `byteCount` bytes can be written and synced in `directory` now.
    package static func probe(_ directory: String, byteCount: Int) throws(FileError) {
        let path = directory + "/probe"
        defer { unsafe unlink(path) }
        let file = try OpenFile(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try file.append([UInt8](repeating: 0xA5, count: byteCount))
        try file.sync()
    }

    /// Calls `body` with a directory of its own on a file system that has `byteCount` bytes to
    /// spare, and removes the directory and the files in it afterwards.
    ///
    /// - Throws: of kind `.noSpace` when there is no such place.
    package static func withScratchDirectory<Result>(
        byteCount: UInt64, _ body: (String) -> Result
    ) throws(FileError) -> Result {
        for parent in ["/dev/shm", "/tmp", "/var/tmp"] {
            guard let free = try? freeByteCount(at: parent), free >= byteCount else { continue }
            var template = Array("\(parent)/entitled.XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { continue }
            let path = String(
                decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            defer {
                for name in (try? names(in: path)) ?? [] { unsafe unlink(path + "/" + name) }
                unsafe rmdir(path)
            }
            return body(path)
        }
        throw FileError("find space for messages in", "/dev/shm, /tmp and /var/tmp", code: ENOSPC)
    }

    /// The size of a file in bytes.
    package static func byteCount(of path: String) throws(FileError) -> UInt64 {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileError("look at", path) }
        return UInt64(status.st_size)
    }

    /// Sleeps for a millisecond: for who waits until a file is gone.
    package static func pauseOneMillisecond() { usleep(1_000) }

    /// The directory that holds `path`.
    package static func parent(of path: String) -> String {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}

/// An open file descriptor, closed when it goes out of use.
struct OpenFile: ~Copyable {
    /// The flags of a file that is only read.
    static let readOnly = O_RDONLY

    let descriptor: Int32
    let path: String

    init(_ path: String, flags: Int32) throws(FileError) {
        self.path = path
        // A new file is for its owner only.
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError("open", path) }
    }

    deinit { close(descriptor) }

    /// Up to `byteCountMax` bytes from `offset` on; fewer only at the end of the file.
    borrowing func bytes(at offset: Int64, byteCountMax: Int) throws(FileError) -> [UInt8] {
        var failed = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCountMax) { buffer, count in
            while count < byteCountMax {
                let start = unsafe UnsafeMutableRawPointer(buffer.baseAddress)?.advanced(by: count)
                let read = unsafe pread(
                    descriptor, start, byteCountMax - count, off_t(offset) + off_t(count))
                if read < 0, errno == EINTR { continue }
                failed = read < 0
                guard read > 0 else { return }
                count += read
            }
        }
        if failed { throw FileError("read", path) }
        return bytes
    }

    /// Appends all of `bytes` at the file's position.
    borrowing func append(_ bytes: [UInt8]) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return unsafe write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError("write", path) }
            written += count
        }
    }

    /// Puts the file's bytes on disk.
    borrowing func sync() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError("sync", path) }
    }
}
