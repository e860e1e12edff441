internal import FoundationEssentials
internal import Glibc

/// The few things that the tool asks of the operating system itself.
///
/// Writing and starting a process hand pointers to the C library; they are the tool's only unsafe
/// code.
package enum SystemCalls {
    /// A stream that a process is born with.
    package enum StandardStream: Int32 {
        case output = 1
        case error = 2
    }

    /// Writes all of `text`, without a buffer in between.
    ///
    /// A reader that went away (`| head`) ends the tool quietly, as it ends others.
    package static func write(_ text: String, to stream: StandardStream) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { buffer in
                unsafe Glibc.write(stream.rawValue, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            start += count
        }
    }

    /// Whether a person watches the stream.
    package static func isTerminal(_ stream: StandardStream) -> Bool {
        isatty(stream.rawValue) == 1
    }

    /// How many columns the terminal has on which a person reads results; nil without one.
    package static var columnCount: Int? {
        var size = winsize()
        guard isTerminal(.output),
            unsafe ioctl(StandardStream.output.rawValue, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }

    /// Writes a file whole, or leaves what was there.
    ///
    /// - Throws: `CommandFailure` that names the file.
    package static func writeFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be written")
        }
    }

    /// The whole of a file; "-" is stdin.
    ///
    /// - Throws: `CommandFailure` that names the file and what is wrong with it.
    package static func readFile(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            return [UInt8](
                try Data(contentsOf: URL(filePath: path == "-" ? "/dev/stdin" : path)))
        } catch let error as CocoaError {
            let code = (error.underlying as? POSIXError)?.code
            let what =
                switch code {
                case .ENOENT, .ENOTDIR: "there is no such file"
                case .EACCES, .EPERM: "you may not read it"
                case .EISDIR: "it is a directory"
                default: "it cannot be read"
                }
            throw CommandFailure(.failed, "\(path): \(what)")
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be read")
        }
    }

    /// Opens a file to be read piece by piece; "-" is stdin. Close it with `close`.
    ///
    /// - Throws: `CommandFailure` that names the file and what is wrong with it.
    package static func open(_ path: String) throws(CommandFailure) -> Int32 {
        guard path != "-" else { return 0 }
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else { return descriptor }
        let what =
            switch errno {
            case ENOENT, ENOTDIR: "there is no such file"
            case EACCES, EPERM: "you may not read it"
            default: "it cannot be opened"
            }
        throw CommandFailure(.failed, "\(path): \(what)")
    }

    /// The next bytes of what is open, at most `byteCountMax`; none at the end. Waits for them.
    ///
    /// - Throws: `CommandFailure` when it cannot be read.
    package static func read(
        _ descriptor: Int32, byteCountMax: Int
    ) throws(CommandFailure) -> [UInt8] {
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCountMax) { buffer, used in
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                used = max(0, count)
            }
            if count >= 0 { return bytes }
            guard errno == EINTR else {
                let isDirectory = errno == EISDIR
                throw CommandFailure(
                    .failed, isDirectory ? "it is a directory" : "the file cannot be read")
            }
        }
    }

    /// Whether there is something to be read of what is open, or its end, within so many ms.
    package static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    /// Closes what was opened; stdin stays.
    package static func close(_ descriptor: Int32) {
        if descriptor > 0 { _ = Glibc.close(descriptor) }
    }

    /// From here on this process reaches its own machine without a proxy. Before the first thread.
    package static func bypassProxies() { unsafe setenv("no_proxy", "127.0.0.1", 1) }

    /// The time of day in milliseconds since 1970.
    package static var nowMilliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Replaces a file so that after a power cut it is the old one or the new one, whole. It keeps
    /// the permissions and the owner of the old one, where this process may set him; a new file is
    /// its owner's to write and its group's to read.
    ///
    /// - Throws: `CommandFailure` that names the file.
    package static func replaceFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        let new = "\(path).new.\(getpid())"
        func failure(_ what: String) -> CommandFailure {
            _ = unsafe unlink(new)
            return CommandFailure(.failed, "\(path): \(what) (error \(errno))")
        }
        let descriptor = unsafe Glibc.open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(path): its directory cannot be written")
        }
        var old = stat()
        if unsafe stat(path, &old) == 0 {
            // Without the right to give files away the group at least may be one's own.
            if fchown(descriptor, old.st_uid, old.st_gid) != 0 {
                _ = fchown(descriptor, uid_t.max, old.st_gid)
            }
            _ = fchmod(descriptor, old.st_mode & 0o7777)
        }
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                _ = Glibc.close(descriptor)
                throw failure("it cannot be written")
            }
            start += count
        }
        let isSynced = fsync(descriptor) == 0
        guard Glibc.close(descriptor) == 0, isSynced, unsafe rename(new, path) == 0 else {
            throw failure("it cannot be replaced")
        }
        let directory = unsafe Glibc.open(
            URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        _ = Glibc.close(directory)
    }

    /// Calls `body` while nobody else who asks for the same path does. The lock is a file beside
    /// it, for the file itself is replaced; it is left behind, for whoever took it away could take
    /// it from under a third.
    ///
    /// - Throws: `CommandFailure` when the lock cannot be had, and what `body` throws.
    package static func locking<Result>(
        _ path: String, _ body: () throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        let descriptor = unsafe Glibc.open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(path).lock: it cannot be made")
        }
        defer { _ = Glibc.close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw CommandFailure(.failed, "\(path).lock: it cannot be locked")
            }
        }
        return try body()
    }

    /// Whether there is anything at a path.
    package static func fileExists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// Whether a person can answer a question.
    package static var canAsk: Bool { isatty(0) == 1 && isTerminal(.error) }
}
