import FoundationEssentials
import Glibc

@testable import entitled

/// The built program, run as a process of its own. Not for several threads.
final class ChildProcess {
    /// Where the programs were built: beside the test runner.
    static let programPath: String? = {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["TOOLS_ENTITLED_BINARY"] { return path }
        guard
            let runner = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/exe"),
            let slash = runner.lastIndex(of: "/")
        else { return nil }
        let path = runner[...slash] + "entitled"
        return FileManager.default.isExecutableFile(atPath: String(path)) ? String(path) : nil
    }()

    /// A directory of the test's own; the output of the program lands in it.
    let directory: String
    private let processID: pid_t
    private var exitCode: Int32?

    /// Starts the program with exactly this environment.
    init(
        _ arguments: [String], environment: [String: String] = [:], directory: String
    ) throws {
        self.directory = directory
        guard let program = Self.programPath else { throw ChildProcessError.noProgram }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, name) in [(1, "stdout"), (2, "stderr")] as [(Int32, String)] {
            unsafe posix_spawn_file_actions_addopen(
                &actions, descriptor, "\(directory)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let words: [UnsafeMutablePointer<CChar>?] =
            unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] =
            unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var started: pid_t = 0
        let result = unsafe posix_spawn(&started, program, &actions, nil, words, variables)
        guard result == 0 else { throw ChildProcessError.notStarted(result) }
        processID = started
    }

    deinit {
        guard exitCode == nil else { return }
        kill(processID, SIGKILL)
        _ = wait()
    }

    func send(_ signal: Int32) { kill(processID, signal) }

    /// Waits for the end; the exit code, or 1000 and the number of the signal that ended it.
    func wait() -> Int32 {
        if let exitCode { return exitCode }
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 1_000 + (status & 0x7F)
        exitCode = code
        return code
    }

    var output: String { text("stdout") }
    var errors: String { text("stderr") }

    private func text(_ name: String) -> String {
        let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)") ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until `isThere`, up to ten seconds; the caller's expectations say what was missed.
    func wait(until isThere: () -> Bool) {
        for _ in 0..<1_000 where !isThere() { usleep(10_000) }
    }
}

enum ChildProcessError: Error {
    case noProgram
    case notStarted(Int32)
}

/// Calls `body` with a directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/entitled-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}
