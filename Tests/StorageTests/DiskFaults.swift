import Storage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Faults of the machine that a test can cause, in a process of its own.
///
/// The system calls below take pointers to local values only.
enum DiskFault {
    /// Files of this process may not grow past `byteCount`; nil lifts that. A write past it fails
    /// with `EFBIG` instead of the signal that is the default.
    static func limitFileSize(to byteCount: UInt64?) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        unsafe getrlimit(Self.fileSize, &limit)
        limit.rlim_cur = byteCount.map { rlim_t($0) } ?? limit.rlim_max
        let code = unsafe setrlimit(Self.fileSize, &limit)
        precondition(code == 0, "the limit of file sizes cannot be set")
    }

    /// Takes all the space that is left beside `path`; returns the file to remove.
    static func fillDisk(_ path: String) -> String {
        let filler = path + "/filler"
        let descriptor = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 0x55, count: 4 << 10)
        while unsafe write(descriptor, block, block.count) > 0 {}
        while unsafe write(descriptor, block, 1) > 0 {}
        close(descriptor)
        return filler
    }

    /// Ends this process as a crash would, at once and without any cleaning up.
    static func crash() -> Never {
        kill(getpid(), SIGKILL)
        fatalError("still alive")
    }

    /// Gives up the rights of root.
    static func becomeNobody() -> Bool { setgid(65_534) == 0 && setuid(65_534) == 0 }

    /// The permission bits and the size in bytes of a file.
    static func status(of path: String) -> (permissions: Int, byteCount: Int) {
        var status = stat()
        unsafe stat(path, &status)
        return (Int(status.st_mode & 0o7777), Int(status.st_size))
    }

    /// Sets the permission bits of a file.
    static func setPermissions(_ permissions: Int, of path: String) {
        let code = unsafe chmod(path, mode_t(permissions))
        precondition(code == 0, "the permissions cannot be set")
    }

    /// Adds `bytes` to the end of a file, making it when it is missing.
    static func append(_ bytes: [UInt8], to path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        precondition(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
    }

    /// Takes `byteCount` bytes off the end of a file.
    static func cut(_ path: String, by byteCount: Int) {
        let left = status(of: path).byteCount - byteCount
        precondition(unsafe truncate(path, off_t(left)) == 0)
    }

    /// Turns over the bits of one byte of a file.
    static func flipByte(at offset: Int, of path: String) {
        let descriptor = unsafe open(path, O_RDWR)
        var byte: UInt8 = 0
        precondition(unsafe pread(descriptor, &byte, 1, off_t(offset)) == 1)
        byte = ~byte
        precondition(unsafe pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
        close(descriptor)
    }

    #if canImport(Glibc)
        private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        private static let fileSize = RLIMIT_FSIZE
    #endif
}

/// A file system in memory, mounted until this goes out of use.
final class SmallFileSystem: Sendable {
    let path: String

    /// Nil where this process may not mount.
    init?(on path: String, byteCount: Int) {
        self.path = path
        #if canImport(Glibc)
            let code = unsafe "size=\(byteCount)".withCString { data in
                unsafe mount("none", path, "tmpfs", 0, data)
            }
            guard code == 0 else { return nil }
        #else
            return nil
        #endif
    }

    deinit {
        #if canImport(Glibc)
            unsafe umount2(path, Int32(MNT_DETACH))
        #endif
    }
}
