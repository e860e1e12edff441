internal import FoundationEssentials

/// A server that a tool starts on a directory of its own, and ends.
///
/// Not thread-safe: one task's.
package final class ServerProcess {
    /// The longest wait for a start, and for an end.
    private static let patience: Duration = .seconds(30)

    /// Where it listens.
    private struct Addresses {
        let rpc: String
        /// Empty without an HTTP listener.
        let http: String
    }

    /// What is started, and how.
    package struct Launch: Sendable {
        /// The program.
        package var program: String
        /// Flags of every start; `--listen` is added.
        package var arguments: [String]
        /// Where its output goes; exists.
        package var directory: String
        /// Its environment variables, as they are.
        package var environment: [String: String]
        /// Processors that it may run on; empty = those of the tool.
        package var processors: [Int] = []

        /// A start without anything of the caller's settings or proxies.
        package init(
            program: String, arguments: [String], directory: String,
            environment: [String: String]
        ) {
            self.program = program
            self.arguments = arguments
            self.directory = directory
            self.environment = environment.filter { name, _ in
                !name.hasPrefix("ENTITLED_") && !name.lowercased().hasSuffix("_proxy")
            }
        }
    }

    private let launch: Launch
    private var addresses: Addresses
    /// An ended process has no number any more.
    private var isRunning = true
    /// The running process, or the last one.
    package private(set) var process: ChildProcess

    /// Where it listens; the same after every start.
    package var address: String { addresses.rpc }
    /// Where it listens for HTTP; empty when it does not.
    package var httpAddress: String { addresses.http }

    /// Starts it, on a free port of 127.0.0.1 unless `listen` names another place.
    ///
    /// - Throws: `CommandFailure` when it does not come up; it does not run then.
    package init(
        _ launch: Launch, listen: String = "127.0.0.1:0"
    ) async throws(CommandFailure) {
        self.launch = launch
        (process, addresses) = try await Self.start(launch, listen: listen, flags: [])
    }

    private static func start(
        _ launch: Launch, listen: String, flags: [String]
    ) async throws(CommandFailure) -> (ChildProcess, Addresses) {
        let outputPath = launch.directory + "/stdout.log"
        try? FileManager.default.removeItem(atPath: outputPath)
        let process = try ChildProcess(
            program: launch.program, arguments: launch.arguments + ["--listen", listen] + flags,
            environment: launch.environment, outputPath: outputPath,
            errorPath: launch.directory + "/stderr.log", processors: launch.processors)
        let clock = ContinuousClock()
        let limit = clock.now + patience
        var end: ChildProcess.End?
        while end == nil, clock.now < limit, Interruption.signalNumber == nil {
            if let addresses = addresses(in: outputPath) { return (process, addresses) }
            try? await Task.sleep(for: .milliseconds(5))
            end = process.pollEnd()
        }
        if end == nil {
            process.send(.kill)
            _ = await process.waitForEnd()
        }
        if Interruption.signalNumber != nil { throw .interrupted }
        let what = end.map { "ended at its start: \($0)" } ?? "did not say where it listens"
        throw CommandFailure(
            .failed, "\(launch.program) \(what)",
            hint: lastLines(of: launch.directory + "/stderr.log"))
    }

    /// From `listening rpc=127.0.0.1:7420 http=127.0.0.1:9420`, once the whole line is there.
    private static func addresses(in path: String) -> Addresses? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let line = text.split(separator: "\n", omittingEmptySubsequences: false).first,
            line.count < text.count, line.hasPrefix("listening ")
        else { return nil }
        func word(_ prefix: String) -> String? {
            line.split(separator: " ").first { $0.hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }
        }
        return word("rpc=").map { Addresses(rpc: $0, http: word("http=") ?? "") }
    }

    private static func lastLines(of path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "" }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(3)
            .joined(separator: " | ")
    }

    /// Kills the server as a power cut would; `start` starts it again.
    ///
    /// - Returns: how it ended: by itself, where it was faster; nil where it did not run.
    @discardableResult
    package func kill() async -> ChildProcess.End? {
        guard isRunning else { return nil }
        process.send(.kill)
        isRunning = false
        return await process.waitForEnd()
    }

    /// Ends the server in order; `start` starts it again.
    ///
    /// - Throws: `CommandFailure` when it does not end well.
    package func stop() async throws(CommandFailure) {
        let end = await end()
        if Interruption.signalNumber != nil { throw .interrupted }
        if end != .exit(0) {
            throw CommandFailure(
                .failed, "the server ended with \(end)",
                hint: Self.lastLines(of: launch.directory + "/stderr.log"))
        }
    }

    /// Starts it again at the same address, with `flags` besides those of every start.
    ///
    /// - Throws: `CommandFailure` when it does not come back.
    package func start(_ flags: [String] = []) async throws(CommandFailure) {
        (process, addresses) = try await Self.start(launch, listen: address, flags: flags)
        isRunning = true
    }

    /// Ends the server in order, or by force when it takes too long.
    ///
    /// - Returns: how it ended; exit code 0 when it had ended before.
    package func end() async -> ChildProcess.End {
        guard isRunning else { return .exit(0) }
        isRunning = false
        process.send(.terminate)
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        while clock.now < limit {
            if let end = process.pollEnd() { return end }
            try? await Task.sleep(for: .milliseconds(5))
        }
        process.send(.kill)
        return await process.waitForEnd()
    }
}

extension CommandFailure {
    /// A signal came.
    package static let interrupted = CommandFailure(.interrupted, "interrupted")
}

/// Where programs and throw-away directories are.
package enum ServerPlace {
    /// A directory of our own under the system's one for such; nobody else may read it.
    ///
    /// - Throws: `CommandFailure` when it cannot be made.
    package static func makeDirectory(_ prefix: String) throws(CommandFailure) -> String {
        let directory =
            FileManager.default.temporaryDirectory.path
            + "/\(prefix)-\(UUID().uuidString.lowercased())"
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.failed, "\(directory): it cannot be made")
        }
        return directory
    }

    /// Removes what `makeDirectory` made, with all in it.
    package static func removeDirectory(_ directory: String) {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The server's program: the one named, else that beside this tool, else that in PATH.
    ///
    /// - Throws: `CommandFailure` that says where it was looked for.
    package static func findProgram(
        named path: String?, environment: [String: String]
    ) throws(CommandFailure) -> String {
        let files = FileManager.default
        if let path {
            guard files.isExecutableFile(atPath: path) else {
                throw CommandFailure(.failed, "\(path): there is no such program")
            }
            return path
        }
        var directories: [String] = []
        if let tool = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            directories.append(tool)
        } else if let tool = CommandLine.arguments.first, tool.contains("/") {
            directories.append(tool)
        }
        directories = directories.map { $0.split(separator: "/").dropLast().joined(separator: "/") }
            .map { "/" + $0 }
        directories += environment["PATH", default: ""].split(separator: ":").map(String.init)
        let found = directories.map { $0 + "/entitled" }
            .first { files.isExecutableFile(atPath: $0) }
        guard let found else {
            throw CommandFailure(
                .failed, "no program `entitled` beside this tool or in PATH",
                hint: "name it with --server PATH")
        }
        return found
    }
}
