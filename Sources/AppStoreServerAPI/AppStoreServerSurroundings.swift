package import Entitlements
package import HTTP

/// What the client needs of the world around it; tests put their own in its place.
package struct AppStoreServerSurroundings: Sendable {
    /// Sends one request and waits for the response, for so many milliseconds at most. Blocking;
    /// called by several threads at once.
    package var send:
        @Sendable (_ request: HTTPRequest, _ timeoutMilliseconds: Int64) throws(SendFailure) ->
            HTTPResponse
    /// The time of day.
    package var now: @Sendable () -> Timestamp
    /// Blocks for so many milliseconds; false: told to give up, at once or in the middle.
    package var sleep: @Sendable (_ milliseconds: Int64) -> Bool
    /// A number of 0 ..< 1, another each time: keeps servers from asking again in step.
    package var fraction: @Sendable () -> Double

    /// Surroundings.
    package init(
        send: @escaping @Sendable (HTTPRequest, Int64) throws(SendFailure) -> HTTPResponse,
        now: @escaping @Sendable () -> Timestamp,
        sleep: @escaping @Sendable (Int64) -> Bool,
        fraction: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.send = send
        self.now = now
        self.sleep = sleep
        self.fraction = fraction
    }
}

/// Why a request got no response. The texts carry no path, field or body.
package enum SendFailure: Error, Hashable, Sendable {
    /// No whole response: name, connection, TLS, time.
    case unreachable(message: String, mayRetryHelp: Bool)
    /// A response that is no HTTP, or longer than is taken.
    case unusable(message: String)
    /// Told to give up.
    case cancelled
}

/// Where Apple's servers are, and how much is asked of them.
package struct AppStoreServerConfiguration: Hashable, Sendable {
    /// Apple's server for Production.
    package static let productionURL = "https://api.storekit.apple.com"
    /// Apple's server for Sandbox.
    package static let sandboxURL = "https://api.storekit-sandbox.apple.com"

    /// Scheme, host, port and perhaps the beginning of a path.
    package var productionURL: String
    /// The same for Sandbox.
    package var sandboxURL: String
    /// Requests per second of Get Transaction History in Production; see `RateBudget`.
    package var historyRatePerSecond: Double
    /// For one request, whatever time its caller has.
    package var requestTimeoutMilliseconds: Int64
    /// How often one request is sent at most, repeats after failures and 429 included.
    package var attemptCountMax: Int
    /// How many pages one history may have: 20 transactions each.
    package var pageCountMax: Int

    /// The configuration for Apple's own servers.
    package init(
        productionURL: String = productionURL, sandboxURL: String = sandboxURL,
        historyRatePerSecond: Double = 40, requestTimeoutMilliseconds: Int64 = 30_000,
        attemptCountMax: Int = 5, pageCountMax: Int = 1_000
    ) {
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
        self.historyRatePerSecond = historyRatePerSecond
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.attemptCountMax = attemptCountMax
        self.pageCountMax = pageCountMax
    }

    /// The server of an environment.
    func baseURL(of environment: AppEnvironment) -> String {
        switch environment {
        case .production: productionURL
        case .sandbox: sandboxURL
        }
    }
}
