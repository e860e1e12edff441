internal import Glibc
internal import Synchronization

/// A process that the tool has started and has to end.
package struct ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What may be sent to it.
    package enum Signal: Sendable {
        case terminate, kill

        fileprivate var number: Int32 {
            switch self {
            case .terminate: SIGTERM
            case .kill: SIGKILL
            }
        }
    }

    /// Its number.
    package let id: Int32

    /// Starts a program with stdin empty and its output in two files.
    ///
    /// It gets a process group of its own: a Ctrl-C reaches the tool, which ends it in order. It
    /// runs on `processors` only; empty = wherever the tool may run.
    ///
    /// - Throws: `CommandFailure` when the system refuses.
    package init(
        program: String, arguments: [String], environment: [String: String], outputPath: String,
        errorPath: String, processors: [Int] = []
    ) throws(CommandFailure) {
        // A child runs where the thread runs that starts it, and so do all threads it will have.
        let own = Processors.available
        if !processors.isEmpty { try Processors.pin(processors) }
        defer { if !processors.isEmpty { try? Processors.pin(own) } }
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
    package func send(_ signal: Signal) { kill(id, signal.number) }

    /// How it ended; nil while it runs. After an end the number is the system's again: ask no more.
    package func pollEnd() -> End? {
        var status: Int32 = 0
        let result = unsafe waitpid(id, &status, WNOHANG)
        guard result == id else { return result < 0 ? .exit(0) : nil }
        Interruption.running.store(0, ordering: .relaxed)
        let signal = status & 0x7F
        return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    }

    /// Waits for its end.
    package func waitForEnd() async -> End {
        while true {
            if let end = pollEnd() { return end }
            // A cancelled sleep returns at once; that only polls faster.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
