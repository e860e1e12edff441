import EntitledClient
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

/// Backups of a real server, and servers on what they are restored to.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct BackupTests {
    private func server(_ flags: [String] = []) async throws -> (TestServer, root: String) {
        let files = try TemporaryDirectory()
        let root = files.path + "/backups"
        return (
            try await TestServer.start(flags: ["--backup-dir", root] + flags, keeping: [files]),
            root
        )
    }

    @Test func `a restored server answers as at the backup's revision`() async throws {
        let (server, root) = try await server()
        let client = try server.client()
        defer { client.close() }
        for index in 0..<20 {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + index)"))
        }
        // Under load: what was answered before is in, the rest by revision.
        let acknowledged = Mutex<[Int: UInt64]>([:])
        let bodies = try (20..<220).map {
            try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + $0)")
        }
        let load = Task {
            for (offset, body) in bodies.enumerated() {
                let result = try await client.ingestNotification(body)
                acknowledged.withLock { $0[20 + offset] = result.revision }
            }
        }
        let before = try await client.serverInfo().revision
        let made = try await server.tool(["backup", "create", "one", "--output", "json"])
        try await load.value
        #expect(made.end == .exit(0), "\(made.errorOutput)")
        let revision = try #require(integer("revision", in: made.output))
        #expect(revision >= before && made.output.contains("\"complete\":true"))
        let target = server.directory.path + "/restored"
        let restore = try await server.tool(["restore", root + "/one", "--to", target])
        #expect(restore.end == .exit(0), "\(restore.errorOutput)")
        let second = try await RestoredServer(of: server, data: target)
        let reader = try second.client()
        defer { reader.close() }
        #expect(try await reader.serverInfo().revision == revision)
        for (index, committed) in acknowledged.withLock({ $0 }) {
            let answer = try await reader.checkAccess(
                .originalTransaction("\(7_000 + index)"), product: "meadow.lifetime")
            #expect(answer.isGranted == (committed <= revision), "purchase \(index)")
        }
        let metrics = try await server.tool(["backup", "list", root, "--output", "json"])
        #expect(metrics.output.contains("\"state\":\"complete\""))
        second.process.send(SIGTERM)
        try await second.process.waitForEnd()
        try await server.stop()
    }

    @Test func `a kill while a backup is made leaves none that is complete`() async throws {
        for delay in [0, 3, 10, 30] {
            let (server, root) = try await server()
            let client = try server.client()
            for index in 0..<40 {
                _ = try await client.ingestNotification(
                    try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + index)"))
            }
            _ = try await client.createBackup(name: "one")
            try await Task.sleep(for: .milliseconds(delay))
            server.process.send(SIGKILL)
            client.close()
            try await server.process.waitForEnd()
            let isComplete = FileManager.default.fileExists(atPath: root + "/one/MANIFEST.json")
            let list = try await server.tool(["backup", "list", root, "--output", "json"])
            if isComplete {
                // The kill came too late: then it is whole.
                let verified = try await server.tool(["backup", "verify", root + "/one"])
                #expect(verified.end == .exit(0), "\(verified.errorOutput)")
            } else {
                #expect(!list.output.contains("\"complete\""))
                let restore = try await server.tool([
                    "restore", root + "/one", "--to", server.directory.path + "/restored",
                ])
                #expect(restore.end == .exit(4), "\(restore.errorOutput)")
            }
            // The server starts again, and makes another one beside it.
            let second = try await server.restart()
            let made = try await second.tool(["backup", "create", "two"])
            #expect(made.end == .exit(0), "\(made.errorOutput)")
            try await second.stop()
        }
    }

    @Test func `what leads out of the directory is refused, and so is no directory`() async throws {
        let (server, root) = try await server()
        for name in ["../x", "/etc/x", root, root + "/../x", "a/b"] {
            let result = try await server.tool(["backup", "create", name])
            #expect(result.end == .exit(1) && result.errorOutput.contains("INVALID_FIELD"))
        }
        let inside = try await server.tool(["backup", "create", root + "/inside"])
        #expect(inside.end == .exit(0), "\(inside.errorOutput)")
        let again = try await server.tool(["backup", "create", "inside"])
        #expect(again.end == .exit(7) && again.errorOutput.contains("BACKUP_EXISTS"))
        try await server.stop()
        let other = try await TestServer.start()
        let refused = try await other.tool(["backup", "create", "x"])
        #expect(refused.end == .exit(7) && refused.errorOutput.contains("backup.dir"))
        try await other.stop()
    }

    @Test func `a damaged backup is found and not restored`() async throws {
        let (server, root) = try await server()
        _ = try await server.client().ingestNotification(
            try server.fixtures.posted("ONE_TIME_CHARGE", "7000"))
        _ = try await server.tool(["backup", "create", "one"])
        try await server.stop()
        let names = try FileManager.default.contentsOfDirectory(atPath: root + "/one/store")
        let log = try #require(names.first { $0.hasSuffix(".log") })
        var data = try Data(contentsOf: URL(filePath: root + "/one/store/" + log))
        data[data.count / 2] ^= 1
        try data.write(to: URL(filePath: root + "/one/store/" + log))
        let verified = try await server.tool(["backup", "verify", root + "/one"])
        #expect(verified.end == .exit(65) && verified.output.contains(log))
        let target = server.directory.path + "/restored"
        let restore = try await server.tool(["restore", root + "/one", "--to", target])
        #expect(restore.end == .exit(65) && restore.errorOutput.contains(log))
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `a directory in the data is a wrong configuration`() async throws {
        let directory = try TemporaryDirectory()
        let process = try ProgramRun(
            Programs.server,
            [
                "--data", directory.path + "/data", "--backup-dir", directory.path + "/data/b",
                "--bundle-id", "b", "--check-config",
            ], in: directory)
        #expect(try await process.waitForEnd() == .exit(78))
        #expect(process.errorOutput.contains("backup.dir"))
    }

    private func integer(_ name: String, in json: String) -> UInt64? {
        let parts = json.split(separator: "\"\(name)\":", maxSplits: 1)
        return parts.count == 2 ? UInt64(parts[1].prefix { $0.isNumber }) : nil
    }
}

/// A server on a directory that was restored.
final class RestoredServer: Sendable {
    let process: ProgramRun
    let address: String

    init(of server: TestServer, data: String) async throws {
        process = try ProgramRun(
            Programs.server,
            [
                "--data", data, "--listen", "127.0.0.1:0", "--bundle-id", "com.example.meadow",
                "--app-apple-id", "1600000001", "--environment", "Production", "--environment",
                "Sandbox", "--allow-test-root", "--apple-root",
                server.directory.path + "/root0.pem",
            ], in: server.directory)
        let line = try await process.firstLine()
        address = String(line.split(separator: "rpc=").last ?? "")
        guard line.hasPrefix("listening rpc=") else {
            throw ProgramRun.Patience(description: "`\(line)`; \(process.errorOutput)")
        }
    }

    func client() throws -> Client {
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(20)
        return try Client(address: address, configuration: configuration)
    }
}
