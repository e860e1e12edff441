/// How far a request may go.
package struct HTTPLimits: Hashable, Sendable {
    /// For the name, the connection and TLS together.
    package var connectMilliseconds: Int
    /// From the call to the last byte of the response.
    package var totalMilliseconds: Int
    /// A longer body is refused, while it is read.
    package var bodyByteCountMax: Int
    /// All fields of a response together; hostile servers send them without end.
    package var fieldByteCountMax: Int

    /// Limits; zero and less mean the least that is possible, never "no limit".
    package init(
        connectMilliseconds: Int = 5_000, totalMilliseconds: Int = 30_000,
        bodyByteCountMax: Int = 8 << 20, fieldByteCountMax: Int = 64 << 10
    ) {
        self.connectMilliseconds = max(1, connectMilliseconds)
        self.totalMilliseconds = max(1, totalMilliseconds)
        self.bodyByteCountMax = max(1, bodyByteCountMax)
        self.fieldByteCountMax = max(1, fieldByteCountMax)
    }
}

/// How an `HTTPClient` introduces itself and whom it trusts.
package struct HTTPClientOptions: Hashable, Sendable {
    /// `User-Agent`: `entitled/1.0`.
    package var userAgent: String
    /// Certificates in PEM that are trusted besides the system's folder of them; empty: none.
    /// They take the place of the system's *bundle* file, as libcurl has it.
    package var extraRoots: [UInt8]
    /// For requests that name no limits of their own.
    package var limits: HTTPLimits
    /// How many handles, each with its open connections, are kept for the next request.
    package var idleHandleCountMax: Int

    /// Options.
    package init(
        userAgent: String, extraRoots: [UInt8] = [], limits: HTTPLimits = .init(),
        idleHandleCountMax: Int = 8
    ) {
        self.userAgent = userAgent
        self.extraRoots = extraRoots
        self.limits = limits
        self.idleHandleCountMax = idleHandleCountMax
    }
}
