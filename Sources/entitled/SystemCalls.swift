internal import FoundationEssentials
internal import Glibc

/// The few things that the program asks of the operating system itself.
///
/// `write` and the notification of the service manager hand pointers to the C library; they are the
/// only unsafe code outside the wrappers.
enum SystemCalls {
    /// A stream that a process is born with.
    enum StandardStream: Int32 {
        case output = 1
        case error = 2
    }

    /// Writes all of `text`, without a buffer in between. A reader that went away loses its lines;
    /// the server does not stop for that.
    static func write(_ text: String, to stream: StandardStream) {
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
    static func isTerminal(_ stream: StandardStream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Whether stderr is the stream that `$JOURNAL_STREAM` names ("device:inode", see
    /// systemd.exec(5)): the variable alone is inherited by children that write elsewhere.
    static func isJournal(_ variable: String?) -> Bool {
        var status = stat()
        guard let variable, unsafe fstat(StandardStream.error.rawValue, &status) == 0 else {
            return false
        }
        return variable == "\(status.st_dev):\(status.st_ino)"
    }

    /// Makes signals work as this program expects, whatever it inherited. SIGPIPE is ignored: a
    /// connection or a log reader that went away is an error of a write. So is SIGXFSZ: a file at
    /// the limit of its size is one more disk that takes no writes. What a parent blocked is let
    /// in: one that started us from a thread with blocked signals (Swift's and Dispatch's threads
    /// are such) would have a server that SIGTERM cannot stop. SIGHUP and SIGUSR1 wait for
    /// `letRequestsIn`: before somebody watches for them they would end the process, and opening a
    /// large store takes a while.
    static func prepareSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var requests = requestSignals
        unsafe sigprocmask(SIG_SETMASK, &requests, nil)
    }

    /// Delivers SIGHUP and SIGUSR1 from now on, one that has come before as well. To the thread
    /// that calls: those that it started before do not take them.
    static func letRequestsIn() {
        var requests = requestSignals
        unsafe pthread_sigmask(SIG_UNBLOCK, &requests, nil)
    }

    private static var requestSignals: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe sigaddset(&signals, SIGUSR1)
        return signals
    }

    /// Ends the process without running what is registered for its end: for a process in which a
    /// thread still reads the store.
    static func exitAtOnce(_ code: ExitCode) -> Never { _exit(code.rawValue) }

    /// Which process this is.
    static var processID: Int32 { getpid() }

    /// What of the machine this process may use.
    static var resources: MachineResources {
        MachineResources(
            processorCount: processorCount, physicalMemoryByteCount: physicalMemoryByteCount,
            readFile: { path in
                guard let bytes = try? readFile(path, byteCountMax: 4_096) else { return nil }
                return String(validating: bytes, as: UTF8.self)
            })
    }

    /// The processors that this process may use, at least 1.
    static var processorCount: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }

    /// The machine's memory in bytes.
    static var physicalMemoryByteCount: UInt64 { ProcessInfo.processInfo.physicalMemory }

    /// Whether there is a file at `path`.
    static func fileExists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The whole of a file.
    static func readFile(
        _ path: String, byteCountMax: Int
    ) throws(FileReadError) -> [UInt8] {
        do {
            let handle = try Data(contentsOf: URL(filePath: path))
            return [UInt8](handle.prefix(byteCountMax + 1))
        } catch let error as CocoaError {
            guard let code = (error.underlying as? POSIXError)?.code else {
                throw .other("it cannot be read")
            }
            switch code {
            case .ENOENT, .ENOTDIR: throw .notFound
            case .EACCES, .EPERM: throw .noPermission
            case .EISDIR: throw .other("it is a directory")
            default: throw .other("it cannot be read (\(code))")
            }
        } catch {
            throw .other("it cannot be read")
        }
    }

    /// Tells the service manager how the service fares: `READY=1`, `STOPPING=1`. `address` is
    /// `$NOTIFY_SOCKET`: a path, or `@` and a name in the abstract namespace. Says whether the
    /// datagram left.
    @discardableResult
    static func notifyServiceManager(_ state: String, at address: String) -> Bool {
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        let capacity = MemoryLayout.size(ofValue: target.sun_path)
        guard path.count > 1, path.count < capacity, path[0] == 0x2F || path[0] == 0x40 else {
            return false
        }
        if path[0] == 0x40 { path[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = MemoryLayout<sockaddr_un>.size - capacity + path.count
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let message = Array(state.utf8)
        let sent = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe message.withUnsafeBytes { bytes in
                    unsafe sendto(
                        descriptor, bytes.baseAddress, bytes.count, 0, address, socklen_t(length))
                }
            }
        }
        return sent == message.count
    }

    /// What tells one content of a file from another; nil where there is none that can be seen.
    static func stamp(_ path: String) -> FileStamp? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        func nanoseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
        return FileStamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
            byteCount: Int64(status.st_size), modified: nanoseconds(status.st_mtim),
            changed: nanoseconds(status.st_ctim), mode: UInt32(status.st_mode) & 0o7777)
    }

    /// Gives a file another name; says whether it has it.
    @discardableResult
    static func rename(_ path: String, to other: String) -> Bool {
        unsafe Glibc.rename(path, other) == 0
    }
}

/// A file that is only written at its end.
struct AppendedFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Opens it, or makes it for its owner to write and its group to read; nil where that fails.
    init?(path: String) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { return nil }
    }

    /// Bytes in it.
    var byteCount: Int {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether something stands in it that no line feed ends.
    var isTorn: Bool {
        let reader = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard reader >= 0 else { return false }
        defer { _ = Glibc.close(reader) }
        var last = UInt8(ascii: "\n")
        guard unsafe pread(reader, &last, 1, off_t(byteCount - 1)) == 1 else { return false }
        return last != UInt8(ascii: "\n")
    }

    /// Writes all of it and syncs; says whether it is on the disk. What could not be written whole
    /// is taken away again: a part of a line would spoil the next one.
    func append(_ bytes: [UInt8]) -> Bool {
        let end = byteCount
        guard write(bytes) else {
            _ = ftruncate(descriptor, off_t(end))
            return false
        }
        return true
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            start += count
        }
        return fdatasync(descriptor) == 0
    }

    func close() { _ = Glibc.close(descriptor) }
}
