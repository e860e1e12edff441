import FoundationEssentials
import Glibc
import Synchronization

/// One process of a program under test. Its output goes to files; it is killed with its owner.
final class ProgramRun: Sendable {
    /// How a process ended.
    enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    struct StartFailure: Error {
        let code: Int32
    }

    struct Patience: Error, CustomStringConvertible {
        let description: String
    }

    let id: Int32
    private let directory: TemporaryDirectory
    private let outputName: String
    private let end = Mutex<End?>(nil)

    init(
        _ program: String, _ arguments: [String], in directory: TemporaryDirectory,
        name: String = "run-\(UUID().uuidString.prefix(8))", environment: [String: String] = [:],
        inputPath: String = "/dev/null"
    ) throws {
        self.directory = directory
        outputName = name
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        let base = directory.path + "/" + name
        unsafe posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, base + ".out", flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, base + ".err", flags, 0o600)
        var variables = ["PATH=/usr/bin:/bin", "TMPDIR=\(directory.path)"]
        variables += environment.map { "\($0.key)=\($0.value)" }
        var arguments = unsafe ([program] + arguments).map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        var environment = unsafe variables.map { unsafe strdup($0) }
        unsafe environment.append(nil)
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let result = unsafe posix_spawn(
            &process, program, &actions, nil, arguments, environment)
        guard result == 0 else { throw StartFailure(code: result) }
        id = process
    }

    deinit {
        guard poll() == nil else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(id, &status, 0)
    }

    var output: String { directory.text(of: outputName + ".out") }
    var errorOutput: String { directory.text(of: outputName + ".err") }

    /// How it ended; nil while it runs.
    func poll() -> End? {
        end.withLock { end in
            if let end { return end }
            var status: Int32 = 0
            guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
            let signal = status & 0x7F
            end = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
            return end
        }
    }

    /// Sends a signal while it runs.
    func send(_ signal: Int32) {
        if poll() == nil { kill(id, signal) }
    }

    /// Waits for its end, for half a minute at most.
    @discardableResult
    func waitForEnd() async throws -> End {
        try await eventually("process \(id) ends") { self.poll() }
    }

    /// Waits for the first line on stdout.
    func firstLine() async throws -> String {
        try await eventually("process \(id) says its first line; stderr: \(errorOutput)") {
            let text = self.output
            guard let end = text.firstIndex(of: "\n") else {
                return self.poll() == nil ? nil : ""
            }
            return String(text[..<end])
        }
    }

    /// Resident memory in bytes; 0 when it has ended.
    var residentByteCount: Int {
        let status = (try? Data(contentsOf: URL(filePath: "/proc/\(id)/status"))) ?? Data()
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1_024 } ?? 0
    }
}

/// Asks again and again until there is an answer; gives up after half a minute.
func eventually<Value: Sendable>(
    _ what: @autoclosure () -> String, _ body: () throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(110)
    while clock.now < end {
        if let value = try body() { return value }
        try await Task.sleep(for: .milliseconds(3))
    }
    throw ProgramRun.Patience(description: "waited in vain until \(what())")
}
