package import HTTP
package import OpenSSL
internal import Synchronization

/// An App Store to play with: it keeps accounts with their purchases, signs what it hands out with
/// a test authority, remembers what it sent to the app's server, and answers the App Store Server
/// API as Apple documents it, the faults that a test or a rehearsal asks for included.
///
/// It answers requests, it does not listen: `StandInAppStoreServer` gives it an address. Any
/// thread.
///
/// ```swift
/// let appStore = StandInAppStore(fixtures: fixtures, keys: [key], clock: { now })
/// let mia = appStore.account("700000000000000002")
/// mia.add(fixtures.transactionClaims("2000000100000101", product: "meadow.plus.year", ...))
/// mia.revoke("2000000100000101", at: now)
/// appStore.script(.transactionHistory, [.throttled(retryAfter: "1775642402500"), .usual])
/// ```
///
/// See: https://developer.apple.com/documentation/appstoreserverapi
package final class StandInAppStore: Sendable {
    /// A key of App Store Connect, as Apple knows it.
    package struct Key: Sendable {
        /// The issuer's id.
        package var issuerID: String
        /// The key's id.
        package var keyID: String
        /// The public half.
        package var publicKey: ES256PublicKey

        /// A key that Apple accepts until it is revoked.
        package init(issuerID: String, keyID: String, publicKey: ES256PublicKey) {
            self.issuerID = issuerID
            self.keyID = keyID
            self.publicKey = publicKey
        }

        /// A new key, and what App Store Connect would hand out of it.
        ///
        /// - Parameters:
        ///   - issuerID: The issuer's id.
        ///   - keyID: The key's id.
        /// - Returns: What Apple keeps, and the `.p8` file: PKCS #8 in PEM.
        /// - Throws: `OpenSSLError`.
        package static func made(
            issuerID: String, keyID: String
        ) throws(OpenSSLError) -> (key: Key, file: [UInt8]) {
            let key = try SigningKey(generatedOn: .p256)
            guard let publicKey = key.es256PublicKey() else {
                preconditionFailure("a key on P-256 has a public half for ES256")
            }
            return (
                Key(issuerID: issuerID, keyID: keyID, publicKey: publicKey), try key.pem()
            )
        }
    }

    /// Transactions or notifications on one page, as with Apple.
    package static let pageItemCount = 20

    /// The app that it sells.
    let bundleID: String
    /// The App Store's number of the app.
    let appAppleID: Int64
    /// Signs claims; nil when the library refuses.
    let sign: @Sendable (FixtureJSON) -> [UInt8]?
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64
    private let state: Mutex<StandInState>

    /// An App Store without accounts, for tests.
    ///
    /// - Parameters:
    ///   - fixtures: The app, and who signs; both environments are served whatever it names.
    ///   - keys: Whose tokens are accepted.
    ///   - clock: Milliseconds since 1970: when copies are signed and tokens end.
    package init(
        fixtures: SignedFixtures, keys: [Key], clock: @escaping @Sendable () -> Int64
    ) {
        bundleID = fixtures.bundleID
        appAppleID = fixtures.appAppleID
        sign = { try? fixtures.authority.sign($0) }
        self.clock = clock
        state = Mutex(StandInState(keys: keys))
    }

    /// An App Store without accounts, for a rehearsal.
    ///
    /// - Parameters:
    ///   - bundleID: The app that it sells.
    ///   - appAppleID: The App Store's number of the app.
    ///   - authority: Signs.
    ///   - keys: Whose tokens are accepted.
    ///   - clock: Milliseconds since 1970: when copies are signed and tokens end.
    package init(
        bundleID: String, appAppleID: Int64, authority: RehearsalAuthority, keys: [Key],
        clock: @escaping @Sendable () -> Int64
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        sign = { try? authority.sign($0) }
        self.clock = clock
        state = Mutex(StandInState(keys: keys))
    }

    /// Answers one request of the App Store Server API.
    ///
    /// - Parameter request: As a listener receives it, `query` decoded; a path below `/sandbox` is
    ///   Sandbox's, any other Production's.
    /// - Returns: The answer, with a `Date`.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        let route = StandInRoute(request)
        let number = withState { $0.note(route) }
        var response: HTTPResponse
        if let refusal = withState({
            $0.refusal(of: request, bundleID: bundleID, now: clock())
        }) {
            response = .unauthorized()
            withState { $0.requests[number].refusal = refusal }
        } else {
            let step = withState { $0.nextStep(of: route.endpoint) }
            response = step.answer { [self] in usualAnswer(route, request) }
        }
        response.fields.append(HTTPField("Date", standInDate(milliseconds: clock())))
        withState { $0.requests[number].status = response.status }
        return response
    }

    /// The requests so far, in the order of their coming.
    package var requests: [StandInRequest] { withState { $0.requests } }

    /// How many requests came to an endpoint, refused ones included.
    package func requestCount(_ endpoint: StandInEndpoint) -> Int {
        requests.count { $0.endpoint == endpoint }
    }

    /// What the next requests to an endpoint get, one step each; then answers are usual again.
    package func script(_ endpoint: StandInEndpoint, _ steps: [StandInStep]) {
        withState { $0.scripts[endpoint, default: []] += steps }
    }

    /// What every request gets from now on that no script says otherwise of; nil: usual answers.
    package func outage(_ step: StandInStep?) {
        withState { $0.outage = step }
    }

    /// Takes a key out of use, as an administrator does in App Store Connect.
    package func revokeKey(_ keyID: String) {
        withState { $0.revokedKeyIDs.insert(keyID) }
    }

    /// Puts a key into use again, or a new one.
    package func accept(_ key: Key) {
        withState { state in
            state.revokedKeyIDs.remove(key.keyID)
            state.keys.append(key)
        }
    }

    @discardableResult
    func withState<Value: Sendable>(_ body: (inout sending StandInState) -> sending Value) -> Value
    {
        state.withLock(body)
    }
}

/// Apple's two worlds; the raw values are Apple's names.
package enum StandInEnvironment: String, Hashable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"
}

/// A request that came.
package struct StandInRequest: Hashable, Sendable {
    /// What was asked; nil for a path that Apple does not know.
    package var endpoint: StandInEndpoint?
    /// Of which world.
    package var environment: StandInEnvironment
    /// The id in the path; empty without one.
    package var id: String
    /// The query items, `name=value`.
    package var query: [String]
    /// The body, as text.
    package var body: String
    /// What was answered.
    package var status: Int
    /// Why the token was not accepted; nil when it was.
    package var refusal: String?
}

/// Everything that changes.
struct StandInState {
    var keys: [StandInAppStore.Key]
    var revokedKeyIDs: Set<String> = []
    var accounts: [StandInAccountID: StandInAccountState] = [:]
    var notifications: [StandInNotification] = []
    var testTokens: [String: Int] = [:]
    var hasNotificationURL = true
    var scripts: [StandInEndpoint: [StandInStep]] = [:]
    var outage: StandInStep?
    var requests: [StandInRequest] = []
    /// Counts changes of transactions: the order of "last modified".
    var changeCount = 0

    init(keys: [StandInAppStore.Key]) { self.keys = keys }

    /// Writes a request down.
    ///
    /// - Returns: Its place among the requests.
    mutating func note(_ route: StandInRoute) -> Int {
        requests.append(
            StandInRequest(
                endpoint: route.endpoint, environment: route.environment, id: route.id,
                query: route.query.map { "\($0.name)=\($0.value)" }, body: route.bodyText,
                status: 0, refusal: nil))
        return requests.count - 1
    }

    mutating func nextStep(of endpoint: StandInEndpoint?) -> StandInStep {
        guard let endpoint, var steps = scripts[endpoint], !steps.isEmpty else {
            return outage ?? .usual
        }
        let step = steps.removeFirst()
        scripts[endpoint] = steps
        return step
    }
}
