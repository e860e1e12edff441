internal import FoundationEssentials

/// A real server on a throw-away directory, started and ended by the drill.
final class RehearsalServer {
    /// The longest wait for a start, and for an end.
    private static let patience: Duration = .seconds(30)

    /// The app that it serves.
    static let bundleID = "com.example.meadow"
    static let appAppleID: Int64 = 1_600_000_001

    /// Where it listens.
    private struct Addresses {
        let rpc: String
        /// Empty without an HTTP listener.
        let http: String
    }

    let program: String
    /// Holds all that the drill writes.
    let directory: String
    private(set) var process: ChildProcess
    private var addresses: Addresses
    private let environment: [String: String]
    /// An ended process has no number any more.
    private var isRunning = true

    /// Where it listens; the same after every start.
    var address: String { addresses.rpc }
    /// Where Apple's notifications go; it takes a server that was started with `--http`.
    var notificationURL: String { "http://\(addresses.http)/apple/notifications" }

    /// Makes the directory and starts the server on a free port.
    ///
    /// - Throws: `CommandFailure`; nothing is left behind then.
    init(
        program: String, rootPEM: [UInt8], environment: [String: String]
    ) async throws(CommandFailure) {
        self.program = program
        // Nothing of the caller's reaches the drill: neither settings nor a proxy for loopback.
        self.environment = environment.filter { name, _ in
            !name.hasPrefix("ENTITLED_") && !name.lowercased().hasSuffix("_proxy")
        }
        let directory =
            FileManager.default.temporaryDirectory.path
            + "/entitled-rehearsal-\(UUID().uuidString.lowercased())"
        self.directory = directory
        do throws(CommandFailure) {
            try Self.prepare(directory, rootPEM)
            (process, addresses) = try await Self.start(
                program, directory, self.environment, listen: "127.0.0.1:0", flags: [])
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    private static func prepare(
        _ directory: String, _ rootPEM: [UInt8]
    ) throws(CommandFailure) {
        // A file of its own keeps the machine's configuration out of the drill.
        let costs = Product.allCases.filter { $0.unitCostMicros > 0 }.map { product in
            "\"\(product.rawValue)\": { unitCost: \(Amount.millionths(product.unitCostMicros)) }"
        }
        let products = ["\"\(Product.plus.rawValue)\": { entitlements: [\"plus\"] }"] + costs
        let configuration = """
            { apps: [{ bundleId: "\(bundleID)", appAppleId: \(appAppleID),
                       environments: ["Production", "Sandbox"],
                       products: { \(products.joined(separator: ", ")) } }] }
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
        _ program: String, _ directory: String, _ environment: [String: String], listen: String,
        flags: [String]
    ) async throws(CommandFailure) -> (ChildProcess, Addresses) {
        let outputPath = directory + "/stdout.log"
        try? FileManager.default.removeItem(atPath: outputPath)
        let process = try ChildProcess(
            program: program,
            arguments: [
                "--config", directory + "/entitled.json5", "--data", directory + "/data",
                "--listen", listen, "--apple-root", directory + "/root.pem", "--allow-test-root",
            ] + flags,
            environment: environment, outputPath: outputPath, errorPath: directory + "/stderr.log")
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
            .failed, "\(program) \(what)", hint: lastLines(of: directory + "/stderr.log"))
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
    func kill() async {
        process.send(.kill)
        _ = await process.waitForEnd()
        isRunning = false
    }

    /// Ends the server in order; `start` starts it again.
    ///
    /// - Throws: `CommandFailure` when it does not end well.
    func stop() async throws(CommandFailure) {
        let end = await waitForOrderlyEnd()
        if Interruption.signalNumber != nil { throw .interrupted }
        if end != .exit(0) {
            throw CommandFailure(
                .failed, "the server ended with \(end)",
                hint: Self.lastLines(of: directory + "/stderr.log"))
        }
    }

    /// Starts it again on the same data and address.
    ///
    /// - Parameter flags: Besides those of every start.
    /// - Throws: `CommandFailure` when it does not come back.
    func start(_ flags: [String] = []) async throws(CommandFailure) {
        (process, addresses) = try await Self.start(
            program, directory, environment, listen: address, flags: flags)
        isRunning = true
    }

    private func waitForOrderlyEnd() async -> ChildProcess.End {
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

    /// Ends the server and removes all that the drill wrote.
    ///
    /// - Returns: How the server ended.
    func end() async -> ChildProcess.End {
        let end = await waitForOrderlyEnd()
        try? FileManager.default.removeItem(atPath: directory)
        return end
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
