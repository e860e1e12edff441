import EntitledClient
import FoundationEssentials
import Glibc
import HTTP
import TestSupport
import Testing

/// A file system of its own in memory, which a test can fill; only root can have one.
private final class SmallDisk: Sendable {
    static let isThere =
        getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/mount")

    let directory: TemporaryDirectory
    var path: String { directory.path + "/disk" }
    private var filler: String { path + "/filler" }

    /// More than the server keeps free for itself, and than a log takes beforehand.
    init(megabytes: Int = 256) async throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path + "/disk", withIntermediateDirectories: true)
        try await run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "none", path])
    }

    deinit {
        // Lazily: a server that is still ending may hold a file.
        var process: pid_t = 0
        let arguments: [String] = ["umount", "-l", path]
        let words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        let code = unsafe posix_spawn(&process, "/usr/bin/umount", nil, nil, words + [nil], nil)
        var status: Int32 = 0
        if code == 0 { unsafe waitpid(process, &status, 0) }
        unsafe words.forEach { unsafe free($0) }
    }

    func run(_ program: String, _ arguments: [String]) async throws {
        let process = try ProgramRun("/usr/bin/" + program, arguments, in: directory)
        let end = try await process.waitForEnd()
        guard end == .exit(0) else {
            throw ProgramRun.Patience(description: "\(program): \(end); \(process.errorOutput)")
        }
    }

    /// Takes all the space that is left.
    func fill() {
        let descriptor = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 0x55, count: 64 << 10)
        while unsafe write(descriptor, block, block.count) > 0 {}
        while unsafe write(descriptor, block, 1) > 0 {}
        close(descriptor)
    }

    func empty() throws { try FileManager.default.removeItem(atPath: filler) }
}

/// Disks that are full, damaged files, and systems that refuse: what was answered stays, and a *no*
/// is never said for want of knowing.
@Suite(
    .serialized, .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct StoreTroubleTests {
    private func ingest(_ count: Int, _ server: TestServer, from first: Int = 0) async throws {
        let client = try server.client()
        defer { client.close() }
        for index in first..<first + count {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(8_000 + index)"))
        }
    }

    /// How many of the purchases are answered *granted*, *no*, and refused with which reasons.
    private func ask(
        _ count: Int, _ server: TestServer
    ) async throws -> (granted: Int, denied: Int, refused: Set<String>) {
        let client = try server.client()
        defer { client.close() }
        var result = (granted: 0, denied: 0, refused: Set<String>())
        for index in 0..<count {
            do throws(ClientError) {
                let answer = try await client.checkAccess(
                    .originalTransaction("\(8_000 + index)"), product: "meadow.lifetime")
                if answer.isGranted { result.granted += 1 } else { result.denied += 1 }
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                result.refused.insert(refusal.reason)
            }
        }
        return result
    }

    /// The reason for which a notification is refused; nil when it is taken.
    private func refusal(_ index: Int, _ server: TestServer) async throws -> String? {
        do throws(ClientError) {
            var configuration = ClientConfiguration()
            configuration.attemptCountMax = 1
            let client = try Client(address: server.address, configuration: configuration)
            defer { client.close() }
            _ = try await client.ingestNotification(
                body(index, server))
            return nil
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return refusal.reason
        }
    }

    /// Hands a notification in until it is taken.
    private func waitUntilTaken(_ index: Int, _ server: TestServer) async throws {
        for _ in 0..<1_000 {
            if try await refusal(index, server) == nil { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw ProgramRun.Patience(description: "no write is taken; \(server.process.errorOutput)")
    }

    private func body(_ index: Int, _ server: TestServer) -> [UInt8] {
        (try? server.fixtures.posted("ONE_TIME_CHARGE", "\(8_000 + index)")) ?? []
    }

    private func ready(_ server: TestServer) async throws -> String {
        let words = server.process.output.split(separator: "\n")[0].split(separator: " ")
        let address = try #require(words.last { $0.hasPrefix("http=") })
        let request = HTTPRequest(target: "http://" + address.dropFirst(5) + "/readyz")
        return try await Task.detached {
            let client = try HTTPClient(options: HTTPClientOptions(userAgent: "test"))
            let response = try client.send(request)
            return "\(response.status) " + String(decoding: response.body, as: UTF8.self)
        }.value
    }

    /// K6, and full while it runs.
    @Test(.enabled(if: SmallDisk.isThere, "only root mounts a file system"))
    func `a disk that runs full, also at a start, refuses writes and loses nothing`() async throws {
        let disk = try await SmallDisk()
        let server = try await TestServer.start(
            flags: ["--http", "127.0.0.1:0"], data: disk.path + "/data")
        try await ingest(5, server)
        disk.fill()
        #expect(try await refusal(5, server) == "STORE_UNAVAILABLE")
        #expect(try await ask(5, server).granted == 5)
        #expect(try await ready(server).hasPrefix("503"))
        server.process.send(SIGKILL)
        try await server.process.waitForEnd()

        let second = try await server.restart()
        #expect(try await ask(5, second).granted == 5)
        #expect(try await refusal(5, second) == "STORE_UNAVAILABLE")
        #expect(try await ready(second).hasPrefix("503"))
        try disk.empty()
        try await waitUntilTaken(5, second)
        #expect(try await ready(second).hasPrefix("200"))
        #expect(try await ask(6, second).granted == 6)
        #expect(try await second.stop() == .exit(0))
        let third = try await second.restart()
        #expect(try await ask(6, third).granted == 6)
        #expect(try await third.stop() == .exit(0))
    }

    @Test(.enabled(if: SmallDisk.isThere, "only root mounts a file system"))
    func `a disk that is read-only at the start is refused, and serves when it is not`()
        async throws
    {
        let disk = try await SmallDisk()
        let server = try await TestServer.start(data: disk.path + "/data")
        try await ingest(3, server)
        server.process.send(SIGKILL)
        try await server.process.waitForEnd()
        try await disk.run("mount", ["-o", "remount,ro", disk.path])
        let refused = try ProgramRun(
            Programs.server,
            server.arguments + ["--listen", "127.0.0.1:0"], in: server.directory)
        #expect(try await refused.waitForEnd() == .exit(77))
        #expect(refused.errorOutput.contains(disk.path))
        try await disk.run("mount", ["-o", "remount,rw", disk.path])
        let second = try await server.restart()
        #expect(try await ask(3, second).granted == 3)
        #expect(try await second.stop() == .exit(0))
    }

    /// The table with the snapshots is found by its family's name, which stands in it as text.
    @Test func `a damaged table refuses what it held, says so, and never a no`() async throws {
        let server = try await TestServer.start(flags: ["--http", "127.0.0.1:0"])
        try await ingest(60, server)
        #expect(try await server.stop() == .exit(0))
        // The next start moves the log into tables.
        let second = try await server.restart()
        #expect(try await second.stop() == .exit(0))
        let store = server.directory.path + "/data/store"
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: store).sorted().last {
                $0.hasSuffix(".sst")
                    && server.directory.text(of: "data/store/" + $0).contains("snapshots")
            })
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: store + "/" + name)))
        bytes[40] ^= 0xFF
        _ = try server.directory.write(bytes, to: "data/store/" + name)

        let damaged = try await server.restart()
        let answers = try await ask(60, damaged)
        #expect(answers.refused == ["STORE_DAMAGED"])
        #expect(answers.denied == 0)
        #expect(try await ready(damaged).contains("damaged"))
        #expect(damaged.process.errorOutput.contains("the store is damaged"))
        #expect(damaged.process.errorOutput.contains(name))
        #expect(try await damaged.stop() == .exit(0))
    }

    @Test func `a log cut behind what was answered refuses to start, and names it`() async throws {
        let server = try await TestServer.start()
        try await ingest(10, server)
        server.process.send(SIGKILL)
        try await server.process.waitForEnd()
        let store = server.directory.path + "/data/store"
        let log = try #require(
            try FileManager.default.contentsOfDirectory(atPath: store).filter {
                $0.hasSuffix(".log")
            }.max())
        let whole = [UInt8](try Data(contentsOf: URL(filePath: store + "/" + log)))
        for count in [whole.count - 1, whole.count / 2, 0] {
            _ = try server.directory.write(Array(whole.prefix(count)), to: "data/store/" + log)
            let refused = try ProgramRun(
                Programs.server, server.arguments + ["--listen", "127.0.0.1:0"],
                in: server.directory)
            #expect(try await refused.waitForEnd() == .exit(65))
            #expect(refused.errorOutput.contains("were acknowledged"))
        }
        // What was refused was left alone.
        _ = try server.directory.write(whole, to: "data/store/" + log)
        let second = try await server.restart()
        #expect(try await ask(10, second).granted == 10)
        #expect(try await second.stop() == .exit(0))
    }

    /// No file can be longer than nothing: every write of the store fails, as on a disk that was
    /// made read-only by an error. The kernel refuses to remount what has files open for writing.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit"),
            "prlimit is not installed"))
    func `a disk that refuses every write under it serves on, and takes writes by itself again`()
        async throws
    {
        let server = try await TestServer.start(flags: ["--http", "127.0.0.1:0"])
        try await ingest(5, server)
        try await limit("0:unlimited", server)
        #expect(try await refusal(5, server) == "STORE_UNAVAILABLE")
        #expect(try await refusal(5, server) == "STORE_UNAVAILABLE")
        #expect(try await ask(5, server).granted == 5)
        #expect(try await ready(server).hasPrefix("503"))
        try await limit("unlimited:unlimited", server)
        try await waitUntilTaken(5, server)
        #expect(try await ready(server).hasPrefix("200"))
        #expect(try await ask(6, server).granted == 6)
        #expect(try await server.stop() == .exit(0))
        let second = try await server.restart()
        #expect(try await ask(6, second).granted == 6)
        #expect(try await second.stop() == .exit(0))
    }

    private func limit(_ bytes: String, _ server: TestServer) async throws {
        let process = try ProgramRun(
            "/usr/bin/prlimit", ["--pid", "\(server.process.id)", "--fsize=\(bytes)"],
            in: server.directory)
        #expect(try await process.waitForEnd() == .exit(0), "\(process.errorOutput)")
    }

    @Test(.enabled(if: SmallDisk.isThere, "only root mounts a file system"))
    func `an audit and keys on a full disk: calls go on, what is lost is counted, no line is torn`()
        async throws
    {
        let disk = try await SmallDisk(megabytes: 8)
        let keys = disk.path + "/keys.jsonl"
        func makeKey(_ name: String) async throws -> ToolResult {
            try await ToolResult.run(
                ["key", "create", "--name", name, "--roles", "admin"],
                environment: ["ENTITLECTL_KEYS_FILE": keys], in: disk.directory)
        }
        let made = try await makeKey("a")
        #expect(made.end == .exit(0), "\(made.errorOutput)")
        let audit = disk.path + "/audit.jsonl"
        let server = try await TestServer.start(
            flags: ["--auth-keys-file", keys, "--auth-audit-file", audit])
        var configuration = ClientConfiguration()
        configuration.apiKey = made.output.replacing("\n", with: "")
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        func link(_ name: String) async throws {
            _ = try await client.linkCustomer(
                CustomerLink(customerID: name, household: .join("h")))
        }
        try await link("before")
        _ = try await eventually("the audit has the first call") {
            disk.directory.text(of: "disk/audit.jsonl").contains("customer:before") ? true : nil
        }
        disk.fill()
        // A page of the file may have room for some.
        for index in 0..<40 { try await link("full\(index)") }
        _ = try await eventually("the log says so") {
            server.process.errorOutput.contains("the audit cannot be written") ? true : nil
        }
        let before = disk.directory.text(of: "disk/keys.jsonl")
        let refused = try await makeKey("b")
        #expect(refused.end == .exit(1) && refused.errorOutput.contains(keys))
        #expect(disk.directory.text(of: "disk/keys.jsonl") == before)
        try disk.empty()
        try await link("after")
        #expect(try await server.stop() == .exit(0))
        let lines = disk.directory.text(of: "disk/audit.jsonl").split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(lines.contains { $0.contains("customer:before") })
        #expect(lines.contains { $0.contains("customer:after") })
        #expect(lines.contains { $0.hasPrefix("{\"lost\":") })
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit"),
            "prlimit is not installed"))
    func `without descriptors nobody new is let in, and what is there goes on`() async throws {
        let server = try await TestServer.start(
            flags: ["--threads", "1", "--workers", "1"],
            wrapper: ["/usr/bin/prlimit", "--nofile=96:96"])
        try await ingest(3, server)
        let client = try server.client()
        _ = try await client.serverInfo()
        do {
            var crowd: [RawConnection] = []
            for _ in 0..<120 {
                if let one = try? RawConnection(to: server.address) { crowd.append(one) }
            }
            #expect(crowd.count > 20)
            let answer = try await client.checkAccess(
                .originalTransaction("8000"), product: "meadow.lifetime")
            #expect(answer.isGranted)
            let body = try server.fixtures.posted("ONE_TIME_CHARGE", "8003")
            #expect(try await client.ingestNotification(body).disposition == .applied)
        }
        client.close()
        for _ in 0..<500 {
            if (try? await ask(4, server).granted) == 4 { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await ask(4, server).granted == 4)
        #expect(try await server.stop() == .exit(0))
    }
}
