import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport

/// A real server of one app, on a directory of its own, with signed input to feed it.
final class TestServer: Sendable {
    let directory: TemporaryDirectory
    let fixtures: SignedFixtures
    private let options: [String]
    /// What it was started with, but for `--listen`.
    var arguments: [String] { options }
    private let wrapper: [String]
    private let current: ProgramRun
    private let files: [TemporaryDirectory]
    /// Where it listens, in the order asked for.
    let addresses: [String]

    var address: String { addresses[0] }
    var process: ProgramRun { current }

    private init(
        directory: TemporaryDirectory, fixtures: SignedFixtures, options: [String],
        wrapper: [String], process: ProgramRun, addresses: [String], files: [TemporaryDirectory]
    ) {
        self.directory = directory
        self.fixtures = fixtures
        self.options = options
        self.wrapper = wrapper
        current = process
        self.addresses = addresses
        self.files = files
    }

    /// Starts a server that trusts a new authority, for Production and Sandbox.
    ///
    /// - Parameters:
    ///   - listen: What to listen on; "unix" stands for a socket in the server's directory.
    ///   - authorities: Further roots to trust.
    ///   - flags: Further flags.
    ///   - file: The content of a configuration file; see `reload`.
    ///   - files: Directories that the flags name; they live as long as the server.
    ///   - data: Where its data are; nil: in its directory.
    ///   - wrapper: A program and its arguments that becomes the server.
    /// - Returns: The server, which answers.
    /// - Throws: What kept it from starting.
    static func start(
        listen: [String] = ["127.0.0.1:0"], authorities: [TestCertificateAuthority] = [],
        flags: [String] = [], file: String? = nil, keeping files: [TemporaryDirectory] = [],
        data: String? = nil, wrapper: [String] = []
    ) async throws -> TestServer {
        let directory = try TemporaryDirectory()
        let authority = try TestCertificateAuthority()
        var options = [
            "--data", data ?? directory.path + "/data",
            "--bundle-id", "com.example.meadow", "--app-apple-id", "1600000001",
            "--environment", "Production", "--environment", "Sandbox", "--allow-test-root",
        ]
        for (index, root) in ([authority] + authorities).enumerated() {
            let path = try directory.write(
                RehearsalAuthority(root).rootPEM, to: "root\(index).pem")
            options += ["--apple-root", path]
        }
        if let file {
            options += ["--config", try directory.write(Array(file.utf8), to: fileName)]
        }
        return try await start(
            in: directory, SignedFixtures(authority: authority), options + flags,
            listen: listen.map { $0 == "unix" ? "unix:\(directory.path)/s" : $0 }, files, wrapper)
    }

    private static let fileName = "entitled.json5"

    /// Replaces the configuration file, tells the server, and waits until it has read it.
    ///
    /// - Returns: what the server logged of it.
    func reload(_ file: String) async throws -> String {
        let before = process.errorOutput.count
        _ = try directory.write(Array(file.utf8), to: Self.fileName)
        process.send(SIGHUP)
        return try await eventually("the configuration is read; \(process.errorOutput)") {
            let log = String(process.errorOutput.dropFirst(before))
            let isRead = log.contains("configuration reloaded") || log.contains("not reloaded")
            return isRead && log.hasSuffix("\n") ? log : nil
        }
    }

    private static func start(
        in directory: TemporaryDirectory, _ fixtures: SignedFixtures, _ options: [String],
        listen: [String], _ files: [TemporaryDirectory], _ wrapper: [String]
    ) async throws -> TestServer {
        let words = wrapper + [Programs.server]
        let process = try ProgramRun(
            words[0], words.dropFirst() + options + listen.flatMap { ["--listen", $0] },
            in: directory)
        let line = try await process.firstLine()
        let addresses = line.split(separator: " ").filter { $0.hasPrefix("rpc=") }
            .map { String($0.dropFirst(4)) }
        guard line.hasPrefix("listening "), addresses.count == listen.count else {
            throw ProgramRun.Patience(description: "`\(line)`; \(process.errorOutput)")
        }
        return TestServer(
            directory: directory, fixtures: fixtures, options: options, wrapper: wrapper,
            process: process, addresses: addresses, files: files)
    }

    /// Starts a server again on the same data, after this one has ended.
    func restart() async throws -> TestServer {
        try await Self.start(
            in: directory, fixtures, options, listen: ["127.0.0.1:0"], files, wrapper)
    }

    /// A client of its own, with connections of its own.
    func client(at index: Int = 0, timeout: Duration = .seconds(20)) throws -> Client {
        var configuration = ClientConfiguration()
        configuration.timeout = timeout
        return try Client(address: addresses[index], configuration: configuration)
    }

    /// Asks it to stop and waits.
    @discardableResult
    func stop() async throws -> ProgramRun.End {
        process.send(SIGTERM)
        return try await process.waitForEnd()
    }

    /// Runs the tool against it.
    func tool(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil
    ) async throws -> ToolResult {
        try await ToolResult.run(
            arguments,
            environment: environment.merging(["ENTITLECTL_ADDR": address]) { own, _ in own },
            input: input, in: directory)
    }
}

/// What a run of `entitlectl` gave.
struct ToolResult: Sendable {
    let end: ProgramRun.End
    let output: String
    let errorOutput: String

    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil,
        in directory: TemporaryDirectory
    ) async throws -> ToolResult {
        let inputPath = try input.map {
            try directory.write($0, to: "in-\(UUID().uuidString.prefix(8))")
        }
        let process = try ProgramRun(
            Programs.tool, arguments, in: directory, environment: environment,
            inputPath: inputPath ?? "/dev/null")
        let end = try await process.waitForEnd()
        return ToolResult(end: end, output: process.output, errorOutput: process.errorOutput)
    }
}

/// Purchases of the tests, in milliseconds since 1970; all lie in the past.
enum Dates {
    static let bought: Int64 = 1_700_000_000_000
    static let refunded: Int64 = 1_710_000_000_000
    static let far: Int64 = 4_000_000_000_000
}

extension SignedFixtures {
    /// A body as Apple POSTs it, about one purchase of a non-consumable.
    func posted(
        _ type: String, _ id: String, uuid: String = UUID().uuidString,
        product: String = "meadow.lifetime", ownership: String = "PURCHASED",
        account: String? = nil, revoked: Int64? = nil, signed: Int64? = nil
    ) throws -> [UInt8] {
        let account: FixtureJSON? = account.map { .string($0) }
        let jws = try transaction(
            id, product: product, purchased: Dates.bought, ownership: ownership, revoked: revoked,
            signed: signed, changes: account.map { ["appTransactionId": $0] } ?? [:])
        let instant = signed ?? revoked.map { $0 + 4_000 } ?? Dates.bought + 3_000
        return SignedFixtures.body(
            try notification(
                type, uuid: uuid, signed: instant, data: notificationData(transaction: jws)))
    }

    /// A signed transaction as text, for an upload.
    func signedText(_ id: String, product: String = "meadow.lifetime") throws -> String {
        String(
            decoding: try transaction(id, product: product, purchased: Dates.bought),
            as: UTF8.self)
    }
}
