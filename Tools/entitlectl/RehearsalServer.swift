internal import FoundationEssentials
internal import ToolSupport

/// A real server on a throw-away directory, started and ended by the drill.
final class RehearsalServer {
    /// The app that it serves.
    static let bundleID = "com.example.meadow"
    static let appAppleID: Int64 = 1_600_000_001

    /// Holds all that the drill writes.
    let directory: String
    private let server: ServerProcess

    var process: ChildProcess { server.process }
    /// Where it listens; the same after every start.
    var address: String { server.address }
    /// Where Apple's notifications go; it takes a server that was started with `--http`.
    var notificationURL: String { "http://\(server.httpAddress)/apple/notifications" }

    /// Makes the directory and starts the server on a free port.
    ///
    /// - Throws: `CommandFailure`; nothing is left behind then.
    init(
        program: String, rootPEM: [UInt8], environment: [String: String]
    ) async throws(CommandFailure) {
        directory = try ServerPlace.makeDirectory("entitled-rehearsal")
        do throws(CommandFailure) {
            try Self.prepare(directory, rootPEM)
            server = try await ServerProcess(
                ServerProcess.Launch(
                    program: program,
                    arguments: [
                        "--config", directory + "/entitled.json5", "--data", directory + "/data",
                        "--apple-root", directory + "/root.pem", "--allow-test-root",
                    ],
                    directory: directory, environment: environment))
        } catch {
            ServerPlace.removeDirectory(directory)
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
            try Data(rootPEM).write(to: URL(filePath: directory + "/root.pem"))
            try Data(configuration.utf8).write(to: URL(filePath: directory + "/entitled.json5"))
        } catch {
            throw CommandFailure(.failed, "\(directory): it cannot be written")
        }
    }

    /// Kills the server as a power cut would; `start` starts it again.
    func kill() async { await server.kill() }

    /// Ends the server in order; `start` starts it again.
    ///
    /// - Throws: `CommandFailure` when it does not end well.
    func stop() async throws(CommandFailure) { try await server.stop() }

    /// Starts it again on the same data and address, with `flags` besides those of every start.
    ///
    /// - Throws: `CommandFailure` when it does not come back.
    func start(_ flags: [String] = []) async throws(CommandFailure) {
        try await server.start(flags)
    }

    /// Ends the server and removes all that the drill wrote.
    ///
    /// - Returns: How the server ended.
    func end() async -> ChildProcess.End {
        let end = await server.end()
        ServerPlace.removeDirectory(directory)
        return end
    }
}
