internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The few things that the tool asks of the operating system itself.
///
/// Writing and starting a process hand pointers to the C library; they are the tool's only unsafe
/// code.
enum SystemCalls {
    /// A stream that a process is born with.
    enum StandardStream: Int32 {
        case output = 1
        case error = 2
    }

    /// Writes all of `text`, without a buffer in between.
    ///
    /// A reader that went away (`| head`) ends the tool quietly, as it ends others.
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

    /// How many columns the terminal has on which a person reads results; nil without one.
    static var columnCount: Int? {
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
    static func writeFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be written")
        }
    }

    /// The whole of a file; "-" is stdin.
    ///
    /// - Throws: `CommandFailure` that names the file and what is wrong with it.
    static func readFile(_ path: String) throws(CommandFailure) -> [UInt8] {
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

    /// From here on this process reaches its own machine without a proxy. Before the first thread.
    static func bypassProxies() { unsafe setenv("no_proxy", "127.0.0.1", 1) }

    /// The time of day in milliseconds since 1970.
    static var nowMilliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

// MARK: - Processes

/// A process that the tool has started and has to end.
struct ChildProcess: Sendable {
    /// How a process ended.
    enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What may be sent to it.
    enum Signal: Sendable {
        case terminate, kill

        fileprivate var number: Int32 {
            switch self {
            case .terminate: SIGTERM
            case .kill: SIGKILL
            }
        }
    }

    /// Its number.
    let id: Int32

    /// Starts a program with stdin empty and its output in two files.
    ///
    /// It gets a process group of its own: a Ctrl-C reaches the tool, which ends it in order.
    ///
    /// - Throws: `CommandFailure` when the system refuses.
    init(
        program: String, arguments: [String], environment: [String: String], outputPath: String,
        errorPath: String
    ) throws(CommandFailure) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errorPath, flags, 0o600)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var process: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let result = unsafe Self.withCStrings([program] + arguments) { arguments in
            unsafe Self.withCStrings(variables) { variables in
                unsafe posix_spawn(&process, program, &actions, &attributes, arguments, variables)
            }
        }
        guard result == 0 else {
            let reason = result == ENOENT ? "there is no such program" : "error \(result)"
            throw CommandFailure(.failed, "\(program): it cannot be started: \(reason)")
        }
        id = process
        Interruption.running.store(process, ordering: .relaxed)
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else {
                preconditionFailure("the array has at least its end")
            }
            return unsafe body(base)
        }
    }

    /// Sends a signal; one that has ended gets none.
    func send(_ signal: Signal) { kill(id, signal.number) }

    /// How it ended; nil while it runs. After an end the number is the system's again: ask no more.
    func pollEnd() -> End? {
        var status: Int32 = 0
        let result = unsafe waitpid(id, &status, WNOHANG)
        guard result == id else { return result < 0 ? .exit(0) : nil }
        Interruption.running.store(0, ordering: .relaxed)
        let signal = status & 0x7F
        return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    }

    /// Waits for its end.
    func waitForEnd() async -> End {
        while true {
            if let end = pollEnd() { return end }
            // A cancelled sleep returns at once; that only polls faster.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// Ctrl-C and SIGTERM while a process of ours runs: it is ended, and the tool ends in order.
enum Interruption {
    fileprivate static let running = Atomic<Int32>(0)
    private static let received = Atomic<Int32>(0)

    /// From here on a signal is noted instead of ending the tool.
    static func watch() {
        // Made now: a signal handler may not be the first to touch a global.
        _ = (received.load(ordering: .relaxed), running.load(ordering: .relaxed))
        // Only what a signal handler may do: two atomics and kill(2).
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                Interruption.received.store(number, ordering: .relaxed)
                let process = Interruption.running.load(ordering: .relaxed)
                if process > 0 { kill(process, SIGKILL) }
            }
        }
    }

    /// Forgets the running process: it is meant to outlive the tool.
    static func release() { running.store(0, ordering: .relaxed) }

    /// The signal that came; nil = none.
    static var signalNumber: Int32? {
        let number = received.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
