internal import FoundationEssentials

/// A real server on a throw-away directory, started and ended by the drill.
struct RehearsalServer: Sendable {
    /// The longest wait for a start, and for an end.
    private static let patience: Duration = .seconds(30)

    /// The app that it serves.
    static let bundleID = "com.example.meadow"
    static let appAppleID: Int64 = 1_600_000_001

    let program: String
    /// Holds all that the drill writes.
    let directory: String
    private(set) var process: ChildProcess
    /// Where it listens.
    private(set) var address: String

    /// Makes the directory and starts the server on a free port.
    ///
    /// - Throws: `CommandFailure`; nothing is left behind then.
    init(
        program: String, rootPEM: [UInt8], environment: [String: String]
    ) async throws(CommandFailure) {
        self.program = program
        directory =
            FileManager.default.temporaryDirectory.path
            + "/entitled-rehearsal-\(UUID().uuidString.lowercased())"
        do throws(CommandFailure) {
            try Self.prepare(directory, rootPEM)
            (process, address) = try await Self.start(
                program, directory, environment, listen: "127.0.0.1:0")
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    private static func prepare(
        _ directory: String, _ rootPEM: [UInt8]
    ) throws(CommandFailure) {
        // A file of its own keeps the machine's configuration out of the drill.
        let configuration = """
            { apps: [{ bundleId: "\(bundleID)", appAppleId: \(appAppleID),
                       environments: ["Production", "Sandbox"],
                       products: { "\(Product.plus.rawValue)": { entitlements: ["plus"] } } }] }
            """
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Data(rootPEM).write(to: URL(filePath: directory + "/root.pem"))
            try Data(configuration.utf8).write(to: URL(filePath: directory + "/entitled.json5"))
        } catch {
            throw CommandFailure(.failed, "\(directory): it cannot be written")
        }
    }

    private static func start(
        _ program: String, _ directory: String, _ environment: [String: String], listen: String
    ) async throws(CommandFailure) -> (ChildProcess, String) {
        let outputPath = directory + "/stdout.log"
        try? FileManager.default.removeItem(atPath: outputPath)
        let process = try ChildProcess(
            program: program,
            arguments: [
                "--config", directory + "/entitled.json5", "--data", directory + "/data",
                "--listen", listen, "--apple-root", directory + "/root.pem", "--allow-test-root",
            ],
            environment: environment.filter { !$0.key.hasPrefix("ENTITLED_") },
            outputPath: outputPath, errorPath: directory + "/stderr.log")
        let clock = ContinuousClock()
        let limit = clock.now + patience
        var end: ChildProcess.End?
        while end == nil, clock.now < limit, Interruption.signalNumber == nil {
            if let address = address(in: outputPath) { return (process, address) }
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
            .failed, "\(program) \(what)", hint: lastLines(of: directory + "/stderr.log"))
    }

    /// From `listening rpc=127.0.0.1:7420`, once the whole line is there.
    private static func address(in path: String) -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let line = text.split(separator: "\n", omittingEmptySubsequences: false).first,
            line.count < text.count, line.hasPrefix("listening ")
        else { return nil }
        return line.split(separator: " ").first { $0.hasPrefix("rpc=") }
            .map { String($0.dropFirst(4)) }
    }

    private static func lastLines(of path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "" }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(3)
            .joined(separator: " | ")
    }

    /// Kills the server as a power cut would, and starts it again on the same data and address.
    ///
    /// - Throws: `CommandFailure` when it does not come back.
    mutating func killAndRestart(environment: [String: String]) async throws(CommandFailure) {
        process.send(.kill)
        _ = await process.waitForEnd()
        (process, address) = try await Self.start(
            program, directory, environment, listen: address)
    }

    /// Ends the server and removes all that the drill wrote.
    ///
    /// - Returns: How the server ended.
    func end() async -> ChildProcess.End {
        process.send(.terminate)
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        var end = process.pollEnd()
        while end == nil, clock.now < limit {
            try? await Task.sleep(for: .milliseconds(5))
            end = process.pollEnd()
        }
        if end == nil {
            process.send(.kill)
            end = await process.waitForEnd()
        }
        try? FileManager.default.removeItem(atPath: directory)
        return end ?? .exit(0)
    }

    /// The server's program: the one named, else that beside this tool, else that in PATH.
    ///
    /// - Throws: `CommandFailure` that says where it was looked for.
    static func find(
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
