import EntitledClient
import FoundationEssentials
import Glibc
import HTTP
import TestSupport
import Testing
import Wire

/// The wall clock of a server, which a test sets; other processes keep theirs.
///
/// libfaketime reads the step from a file at each question for the time. The monotonic clock goes
/// on as it is, as it does when an operator sets the time.
private struct SteppedClock {
    static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
    static let isThere =
        FileManager.default.fileExists(atPath: library) && !Programs.areSanitized

    /// A Swift program under libfaketime does not see its arguments, so they become variables.
    private static let script = """
        server="$1"; shift
        while [ "$#" -gt 0 ]; do
            name="ENTITLED_$(printf %s "${1#--}" | tr a-z- A-Z_)"; shift
            case "${1---}" in
                --*) value=true ;;
                *) value="$1"; shift ;;
            esac
            eval "before=\\${$name-}"
            export "$name=${before:+$before,}$value"
        done
        export LD_PRELOAD=\(library) FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
        export FAKETIME_TIMESTAMP_FILE="$STEP_FILE"
        exec "$server"
        """

    let directory: TemporaryDirectory
    /// Becomes the server under this clock.
    let wrapper: [String]

    init() throws {
        directory = try TemporaryDirectory()
        let script = Self.script.replacing("$STEP_FILE", with: directory.path + "/step")
        wrapper = ["/bin/sh", try directory.write(Array(script.utf8), to: "start")]
        try set("+0")
    }

    /// Sets the clock so much apart from the true one: `+1h`, `-1y`.
    func set(_ step: String) throws {
        // At once, for the server reads it at any moment.
        try Data((step + "\n").utf8).write(
            to: URL(filePath: directory.path + "/step"), options: .atomic)
    }
}

/// The time of day is set forwards and back under a server at work.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .enabled(if: SteppedClock.isThere, "Debian's package faketime is not installed"),
    .timeLimit(.minutes(10)))
struct ClockTests {
    private static let steps = ["+1h", "-1h", "+1y", "-1y", "+0"]

    private var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1_000) }

    private func start(_ clock: SteppedClock, _ flags: [String] = []) async throws -> TestServer {
        try await TestServer.start(
            flags: ["--http", "127.0.0.1:0"] + flags, keeping: [clock.directory],
            wrapper: clock.wrapper)
    }

    /// A month that ends half an hour from now.
    private func buy(_ server: TestServer, _ client: Client) async throws {
        let month = try server.fixtures.transaction(
            "9000", product: "meadow.plus", purchased: Dates.bought, expires: now + 1_800_000)
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "u", signedTransactions: [String(decoding: month, as: UTF8.self)]))
    }

    @Test func `each answer is that of the clock as it stands, and the connection stays`()
        async throws
    {
        let clock = try SteppedClock()
        let server = try await start(clock)
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        try await buy(server, client)
        // One that has sent half a request, and one that sends nothing.
        let request = try RawConnection.frame(Request(id: 7, call: .getServerInfo))
        let half = try RawConnection(to: server.address)
        let idle = try RawConnection(to: server.address)
        try await half.send(Array(request.prefix(request.count - 1)))
        try await idle.send(request)
        #expect(try await idle.answers(1).map(\.id) == [7])
        for (index, step) in Self.steps.enumerated() {
            try clock.set(step)
            let answer = try await client.checkAccess(.customer("u"), product: "meadow.plus")
            #expect(answer.isGranted == !step.contains(/\+1/), "\(step)")
            #expect(half.isSilent && idle.isSilent, "\(step)")
            let body = try server.fixtures.posted("ONE_TIME_CHARGE", "\(index)")
            #expect(try await client.ingestNotification(body).disposition == .applied)
        }
        try await half.send(request.suffix(1))
        #expect(try await half.answers(1).map(\.id) == [7])
        try await idle.send(request)
        #expect(try await idle.answers(1).map(\.id) == [7])
        #expect(try await client.serverInfo().uptimeMilliseconds < 600_000)
        try clock.set("-1y")
        #expect(try await server.stop() == .exit(0))
        // A start at another time finds everything.
        let second = try await server.restart()
        let reader = try second.client()
        defer { reader.close() }
        #expect(try await reader.serverInfo().transactionCount == 6)
        #expect(try await second.stop() == .exit(0))
    }

    @Test(arguments: ["+1y", "-1y"])
    func `a deadline comes when it is due, whatever the time of day does`(
        step: String
    ) async throws {
        let clock = try SteppedClock()
        let server = try await start(clock)
        let client = try server.client(timeout: .milliseconds(1_500))
        defer { client.close() }
        let start = ContinuousClock.now
        async let reason = Refusals.reason { () async throws(ClientError) in
            try await client.checkAccess(.customer("u"), product: "p", minRevision: 1_000)
        }
        try await Task.sleep(for: .milliseconds(200))
        try clock.set(step)
        #expect(await reason == "REVISION_NOT_REACHED")
        // Not at the step; how much later is the machine's business.
        #expect(start.duration(to: .now) >= .milliseconds(1_400))
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `a key expires by the clock, and is good again when that was wrong`() async throws {
        let clock = try SteppedClock()
        let keys = try TemporaryDirectory()
        let path = keys.path + "/keys.jsonl"
        let made = try await ToolResult.run(
            ["key", "create", "--name", "a", "--roles", "check", "--expires", "30m"],
            environment: ["ENTITLECTL_KEYS_FILE": path], in: keys)
        #expect(made.end == .exit(0), "\(made.errorOutput)")
        let server = try await TestServer.start(
            flags: ["--auth-keys-file", path], keeping: [clock.directory, keys],
            wrapper: clock.wrapper)
        var configuration = ClientConfiguration()
        configuration.apiKey = made.output.replacing("\n", with: "")
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        for step in Self.steps {
            try clock.set(step)
            let reason = await Refusals.reason { () async throws(ClientError) in
                try await client.checkAccess(.customer("u"), product: "p")
            }
            #expect(reason == (step.contains(/\+1/) ? "KEY_EXPIRED" : nil), "\(step)")
        }
        #expect(try await server.stop() == .exit(0))
        // Every entry of the audit has its own time.
        let audit = server.directory.text(of: "data/audit.jsonl").split(separator: "\n")
        #expect(audit.count >= 2 && audit.allSatisfy { $0.contains("KEY_EXPIRED") })
    }

    @Test func `backups are named by the clock, and the one before is not written over`()
        async throws
    {
        let clock = try SteppedClock()
        let files = try TemporaryDirectory()
        let root = files.path + "/backups"
        let server = try await TestServer.start(
            flags: ["--backup-dir", root], keeping: [clock.directory, files],
            wrapper: clock.wrapper)
        let client = try server.client()
        defer { client.close() }
        for (index, step) in Self.steps.dropLast().enumerated() {
            try clock.set(step)
            let body = try server.fixtures.posted("ONE_TIME_CHARGE", "\(index)")
            _ = try await client.ingestNotification(body)
            let made = try await server.tool(["backup", "create"])
            #expect(made.end == .exit(0), "\(step): \(made.errorOutput)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: root).filter {
                $0.hasPrefix("20")
            }.count == 4)
        // The last one has the most in it, and the oldest name.
        let pruned = try await server.tool(["backup", "prune", root, "--keep", "1"])
        #expect(pruned.end == .exit(0), "\(pruned.errorOutput)")
        let left = try FileManager.default.contentsOfDirectory(atPath: root)
            .filter { $0.hasPrefix("20") }.sorted()
        #expect(left.count == 2)
        let oldest = try #require(left.first)
        let manifest = files.text(of: "backups/\(oldest)/MANIFEST.json")
        #expect(manifest.contains("\"revision\": 4"), "\(manifest)")
        #expect(try await server.stop() == .exit(0))
    }
}
