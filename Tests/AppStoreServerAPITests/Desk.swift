import AppStore
import AppStoreServerAPI
import Entitlements
import HTTP
import OpenSSL
import Synchronization
import TestSupport

/// One authority and one key for all tests of the module, and what they all do with them.
enum Desk {
    private static let authority = Result { try TestCertificateAuthority() }
    private static let signingKey = Result { try SigningKey(generatedOn: .p256) }

    static let bundleID = "com.example.meadow"
    static let production = Scope(bundleID: bundleID, environment: .production)
    static let sandbox = Scope(bundleID: bundleID, environment: .sandbox)
    /// 2026-04-08T10:00:00Z.
    static let april8: Int64 = 1_775_642_400_000
    /// 2026-03-01T00:00:00Z.
    static let march: Int64 = 1_772_323_200_000

    /// Signs for com.example.meadow.
    static func fixtures(environment: String = "Production") throws -> SignedFixtures {
        SignedFixtures(authority: try authority.get(), environment: environment)
    }

    static func verifier() throws -> SignedDataVerifier {
        let fixtures = try fixtures()
        let other = TrustedApp(
            bundleID: "com.example.other", appAppleID: 1_600_000_002, environments: [.production])
        return try SignedDataVerifier(
            apps: [fixtures.app(environments: [.production, .sandbox]), other],
            roots: [fixtures.authority.trustedRoot])
    }

    static func key() throws -> APIKey {
        try APIKey(issuerID: "issuer-1", keyID: "KEY1", file: try signingKey.get().pem())
    }

    static func publicKey() throws -> ES256PublicKey {
        guard let key = try signingKey.get().es256PublicKey() else { throw NoKey() }
        return key
    }

    struct NoKey: Error {}

    /// A stand-in that knows the key.
    static func appStore(_ clock: TestClock) throws -> StandInAppStore {
        StandInAppStore(
            fixtures: try fixtures(),
            keys: [.init(issuerID: "issuer-1", keyID: "KEY1", publicKey: try publicKey())],
            clock: { clock.milliseconds })
    }

    /// A client of `server`, with the clock of a test.
    static func client(
        _ server: CannedServer, _ clock: TestClock,
        environments: Set<AppEnvironment> = [.production, .sandbox],
        _ adjust: (inout AppStoreServerConfiguration) -> Void = { _ in }
    ) throws -> AppStoreServerClient {
        var configuration = AppStoreServerConfiguration(
            productionURL: "https://api.example", sandboxURL: "https://sandbox.example/sandbox/")
        adjust(&configuration)
        return AppStoreServerClient(
            key: try key(), apps: [try fixtures().app(environments: environments)],
            verifier: try verifier(), configuration: configuration,
            surroundings: server.surroundings(clock),
            onRequest: { record in server.records.withLock { $0.append(record) } })
    }
}

/// A clock that moves when somebody sleeps.
final class TestClock: Sendable {
    private let state: Mutex<(now: Int64, sleeps: [Int64], stopsAfter: Int)>

    init(_ now: Int64 = Desk.april8) { state = Mutex((now, [], .max)) }

    var milliseconds: Int64 { state.withLock { $0.now } }
    var now: Timestamp { Timestamp(milliseconds: milliseconds) }
    /// How long was slept each time.
    var sleeps: [Int64] { state.withLock { $0.sleeps } }

    func set(_ now: Int64) { state.withLock { $0.now = now } }
    func advance(_ duration: Int64) { state.withLock { $0.now += duration } }
    /// The sleep after so many is told to give up.
    func stop(afterSleeps count: Int) { state.withLock { $0.stopsAfter = count } }

    func sleep(_ duration: Int64) -> Bool {
        state.withLock { state in
            guard state.sleeps.count < state.stopsAfter else { return false }
            state.sleeps.append(duration)
            state.now += duration
            return true
        }
    }
}

/// Answers requests without a network: canned responses first, then a stand-in where there is one.
final class CannedServer: Sendable {
    /// What a request gets.
    enum Step: Sendable {
        case response(HTTPResponse)
        case failure(SendFailure)
    }

    private let steps: Mutex<[Step]>
    private let appStore: StandInAppStore?
    private let seen = Mutex<[(request: HTTPRequest, at: Int64, timeout: Int64)]>([])
    let records = Mutex<[RequestRecord]>([])

    init(_ steps: [Step] = [], appStore: StandInAppStore? = nil) {
        self.steps = Mutex(steps)
        self.appStore = appStore
    }

    convenience init(responses: [HTTPResponse]) { self.init(responses.map { .response($0) }) }

    /// The requests in order, with the time at which they came.
    var requests: [(request: HTTPRequest, at: Int64, timeout: Int64)] { seen.withLock { $0 } }

    func surroundings(_ clock: TestClock) -> AppStoreServerSurroundings {
        AppStoreServerSurroundings(
            send: { (request, timeout) throws(SendFailure) in
                self.seen.withLock { $0.append((request, clock.milliseconds, timeout)) }
                let step = self.steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                switch step {
                case .response(let response): return response
                case .failure(let failure): throw failure
                case nil:
                    guard let appStore = self.appStore else {
                        throw .unreachable(message: "nothing more is canned", mayRetryHelp: false)
                    }
                    return appStore.respond(to: received(request))
                }
            }, now: { clock.now }, sleep: { clock.sleep($0) }, fraction: { 0.5 })
    }
}

/// A request as a listener would hand it over: path and query decoded.
private func received(_ request: HTTPRequest) -> HTTPRequest {
    var received = request
    let afterScheme = request.target.split(separator: "/", maxSplits: 2)
    let whole = "/" + (afterScheme.last ?? "")
    let parts = whole.split(separator: "?", maxSplits: 1)
    received.target = decoded(parts.first ?? "")
    received.query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
        let sides = item.split(separator: "=", maxSplits: 1)
        return HTTPField(decoded(sides[0]), sides.count > 1 ? decoded(sides[1]) : "")
    }
    return received
}

private func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        {
            bytes.append(value)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// What a call of the client threw; nil when it did not.
func failure<Value>(
    _ body: () throws(AppStoreServerError) -> Value
) -> AppStoreServerError? {
    do throws(AppStoreServerError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// What a fetch of a history threw; nil when it did not.
func historyFailure(
    _ body: () throws(HistoryFailure) -> AppleHistory
) -> HistoryFailure? {
    do throws(HistoryFailure) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

extension Timestamp {
    /// So many milliseconds after 2026-04-08T10:00:00Z.
    static func april8(_ milliseconds: Int64 = 0) -> Timestamp {
        Timestamp(milliseconds: Desk.april8 + milliseconds)
    }
}

/// 200 with JSON.
func json(_ body: FixtureJSON) -> HTTPResponse { HTTPResponse(status: 200, body: body.utf8) }

/// A page of a history.
func page(_ items: [FixtureJSON], revision: FixtureJSON?, hasMore: FixtureJSON?) -> HTTPResponse {
    var body: FixtureJSON = ["signedTransactions": .array(items)]
    body["revision"] = revision
    body["hasMore"] = hasMore
    return json(body)
}

/// A JWS as a member of a page.
func item(_ jws: [UInt8]) -> FixtureJSON { .string(String(decoding: jws, as: UTF8.self)) }

/// An error as Apple writes it.
func refusal(_ code: Int64, fields: [HTTPField] = []) -> HTTPResponse {
    let body: FixtureJSON = ["errorCode": .integer(code), "errorMessage": "An error."]
    return HTTPResponse(status: Int(code / 10_000), fields: fields, body: body.utf8)
}
