internal import EntitledClient
internal import ToolSupport

/// One run of a command: what was asked, and what it needs for the answer.
struct Invocation: Sendable {
    /// The release; the server's is asked for by `health`.
    static let version = "0.1.0"
    /// Where the server is when nobody says.
    static let defaultAddress = "127.0.0.1:7420"
    /// How long a call may take when nobody says; the client knows better for those to Apple.
    static let defaultTimeout = Duration.seconds(10)

    /// What the tool was asked.
    let call: ToolProgram<Invocation>.Call
    let environment: [String: String]
    /// Where the server is.
    let address: String
    /// `--output json`.
    let isJSON: Bool
    private let flags: [String: String]
    private let scope: Scope?
    /// Nil: plain text.
    private let tls: ClientTLS?
    /// What the server is shown; empty = nothing.
    let apiKey: String
    /// `--timeout`; nil = not said.
    private let timeout: Duration?

    /// The words behind the command.
    var operands: [String] { call.operands }
    /// Where results and words go.
    var console: Console { call.console }

    /// - Throws: `CommandFailure` when a flag's or a variable's value is wrong.
    init(_ call: ToolProgram<Invocation>.Call) throws(CommandFailure) {
        self.call = call
        flags = call.flags
        environment = call.environment
        isJSON = try call.isJSON()
        scope = try Self.scope(flags)
        timeout = try Self.timeout(flags)
        tls = try TLSFlags.read(flags, environment: environment)
        apiKey = try ServerKey.read(flags["key-file"], call.environment["ENTITLECTL_KEY_FILE"])
        let variable = environment["ENTITLECTL_ADDR"].flatMap { $0.isEmpty ? nil : $0 }
        address = flags["addr"] ?? variable ?? Self.defaultAddress
    }

    private static func scope(_ flags: [String: String]) throws(CommandFailure) -> Scope? {
        let environment: StoreEnvironment
        switch flags["environment"]?.lowercased() {
        case nil, "production": environment = .production
        case "sandbox": environment = .sandbox
        case let other?:
            throw CommandFailure(.usage, "--environment: `\(other)` is not production or sandbox")
        }
        guard flags["environment"] != nil || flags["bundle-id"] != nil else { return nil }
        return Scope(bundleID: flags["bundle-id"] ?? "", environment: environment)
    }

    private static func timeout(_ flags: [String: String]) throws(CommandFailure) -> Duration? {
        guard let text = flags["timeout"] else { return nil }
        guard let timeout = TimeSpan.parse(text) else {
            throw CommandFailure(
                .usage, "--timeout: `\(text)` is no length of time such as 500ms, 10s or 2m")
        }
        return timeout
    }

    /// The value of a flag; nil when it is not given.
    func value(_ flag: String) -> String? { flags[flag] }

    /// Whether a flag without a value is given.
    func has(_ flag: String) -> Bool { flags[flag] != nil }

    /// The instant of a flag; nil when it is not given.
    ///
    /// - Throws: `CommandFailure` when the value is no instant.
    func instant(_ flag: String) throws(CommandFailure) -> Int64? {
        guard let text = flags[flag] else { return nil }
        guard let milliseconds = Instant.parse(text) else {
            throw CommandFailure(
                .usage,
                "--\(flag): `\(text)` is no instant such as 2026-03-08T10:00:05Z after 1970")
        }
        return milliseconds
    }

    /// The whole number of a flag; nil when it is not given.
    ///
    /// - Throws: `CommandFailure` when the value is none within `range`.
    func number(_ flag: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = flags[flag] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw CommandFailure(
                .usage,
                "--\(flag): `\(text)` is no whole number from \(range.lowerBound) to"
                    + " \(range.upperBound)")
        }
        return number
    }

    /// The customer that an operand names.
    ///
    /// - Throws: `CommandFailure` when it names nobody.
    func customer(_ text: String) throws(CommandFailure) -> CustomerReference {
        let makers: [(prefix: String, make: (String) -> CustomerReference)] = [
            ("token:", { .appAccountToken($0) }), ("app-transaction:", { .appTransaction($0) }),
            ("original-transaction:", { .originalTransaction($0) }),
            ("customer:", { .customer($0) }),
        ]
        let maker = makers.first { text.hasPrefix($0.prefix) }
        let name = maker.map { String(text.dropFirst($0.prefix.count)) } ?? text
        guard !name.isEmpty else { throw CommandFailure(.usage, "`\(text)` names no customer") }
        return maker.map { $0.make(name) } ?? .customer(name)
    }

    /// Calls the server, and says in the tool's terms what failed.
    ///
    /// - Throws: `CommandFailure`.
    func withClient<Result: Sendable>(
        at address: String? = nil,
        _ body: (Client) async throws(ClientError) -> Result
    ) async throws(CommandFailure) -> Result {
        let address = address ?? self.address
        var configuration = ClientConfiguration()
        configuration.timeout = timeout ?? Self.defaultTimeout
        if let timeout { configuration.appStoreTimeout = timeout }
        configuration.scope = scope
        configuration.tls = tls
        configuration.apiKey = apiKey
        do throws(ClientError) {
            let client = try Client(address: address, configuration: configuration)
            defer { client.close() }
            console.detail("asking \(address)")
            return try await body(client)
        } catch .invalidAddress(let message) {
            let isVariable = flags["addr"] == nil && environment["ENTITLECTL_ADDR"] != nil
            throw CommandFailure(
                isVariable ? .configuration : .usage,
                "\(isVariable ? "ENTITLECTL_ADDR" : "--addr"): \(message)")
        } catch {
            throw CommandFailure(error, address: address)
        }
    }
}
