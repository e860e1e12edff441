import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Every scenario file, played against a server that runs as a process of its own.
///
/// One after the other: each play has a server and a store of its own, and the machine has few
/// processors.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)), .serialized,
    .timeLimit(.minutes(10)))
struct ScenarioServerTests {
    private static let authority = Result { try TestCertificateAuthority(name: "Scenario") }

    @Test(arguments: ScenarioTexts.names)
    func `a server answers over TCP as the file says`(name: String) async throws {
        let authority = try Self.authority.get()
        let plays = try Scenario(try ScenarioTexts.text(name)).plays(signedBy: authority)
        // The order of the file comes first, and is enough where there are many ways.
        let orders = plays.flatMap { play in
            play.orders(limit: plays.count > 1 ? 1 : 2, seed: 20_260_301).map {
                (settings: play.settings, steps: $0)
            }
        }
        for (number, order) in orders.enumerated() {
            // The last of several goes on, half way, with what was left on disk.
            let isKilled = number > 0 && number == orders.count - 1
            let half = isKilled ? order.steps.count / 2 : order.steps.count
            var server = try await ScenarioServer.start(order.settings, authority)
            var failures = try server.failures(of: order.steps[..<half])
            if isKilled {
                server = try await server.killedAndStarted()
                failures += try server.failures(of: order.steps[half...])
            }
            #expect(failures == [], "\(name), order \(number)")
            #expect(server.process.poll() == nil, "\(server.process.errorOutput)")
        }
    }

    @Test func `the files are found`() {
        #expect(ScenarioTexts.names.count > 50)
    }
}

/// A server on a store of its own, configured by a file; it ends with its owner.
struct ScenarioServer {
    let process: ProgramRun
    let address: String
    private let directory: TemporaryDirectory

    /// A server with nothing in its store.
    static func start(
        _ settings: ScenarioSettings, _ authority: TestCertificateAuthority
    ) async throws -> ScenarioServer {
        let directory = try TemporaryDirectory()
        let root = try directory.write(RehearsalAuthority(authority).rootPEM, to: "root.pem")
        _ = try directory.write(settings.configuration(rootPath: root).utf8, to: configurationName)
        return try await start(in: directory)
    }

    /// What is not as the steps say, when they are played on one connection.
    func failures(of steps: ArraySlice<ScenarioStep>) throws -> [String] {
        var runner = ScenarioRunner(driver: try ScenarioServerDriver(address: address))
        runner.run(Array(steps))
        return runner.failures
    }

    /// The server on the same store after the process was killed, with no chance to tidy up.
    func killedAndStarted() async throws -> ScenarioServer {
        process.send(SIGKILL)
        guard try await process.waitForEnd() == .signal(SIGKILL) else {
            throw ProgramRun.Patience(description: "it ended before: \(process.errorOutput)")
        }
        return try await Self.start(in: directory)
    }

    private static let configurationName = "entitled.json5"

    private static func start(in directory: TemporaryDirectory) async throws -> ScenarioServer {
        let process = try ProgramRun(
            Programs.server,
            [
                "--config", directory.path + "/" + configurationName,
                "--data", directory.path + "/data", "--listen", "127.0.0.1:0",
                "--cache-size", "64MiB", "--threads", "1", "--workers", "1",
            ], in: directory)
        let prefix = "listening rpc="
        let line = try await process.firstLine()
        guard line.hasPrefix(prefix) else {
            throw ProgramRun.Patience(description: "`\(line)`; \(process.errorOutput)")
        }
        return ScenarioServer(
            process: process, address: String(line.dropFirst(prefix.count)), directory: directory)
    }
}

/// The scenario files, which stand beside the tests of the service.
enum ScenarioTexts {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "ScenarioTests/Scenarios").path

    /// The names without the extension, sorted.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasSuffix(".scenario") }
            .map { String($0.dropLast(".scenario".count)) }.sorted()
    }()

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(directory)/\(name).scenario", encoding: .utf8)
    }
}
