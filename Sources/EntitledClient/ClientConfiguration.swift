/// How a client behaves. The defaults suit a backend that asks a server on its own machine.
public struct ClientConfiguration: Hashable, Sendable {
    /// How long a call may take when it names no timeout of its own.
    public var timeout: Duration = .seconds(5)
    /// The same for a call before whose answer the server asks Apple. A server waits for Apple for
    /// a minute at most.
    public var appStoreTimeout: Duration = .seconds(60)
    /// Which app and environment a call means that names none; nil = the server's only app in
    /// Production.
    public var scope: Scope?
    /// The key that the server asks for; empty = none.
    public var apiKey = ""
    /// TLS to the server; nil = plain text, for a Unix socket or loopback.
    public var tls: ClientTLS?
    /// The most connections that are open at once. They are opened as calls come.
    public var connectionCountMax = 2
    /// The most calls in flight on one connection; further calls wait. The server takes 1,024.
    public var inFlightCountMax = 256
    /// The largest frame sent and taken, in bytes.
    public var frameByteCountMax = 1 << 20
    /// How often a call is tried at most: reads that met UNAVAILABLE or a lost connection are sent
    /// again, and so often it is tried to reach the server. 1 = never again.
    public var attemptCountMax = 3
    /// The wait before the second attempt; it doubles with each further one. The real wait is drawn
    /// from the upper half, so that a crowd of clients does not come back at one instant.
    public var firstBackoff: Duration = .milliseconds(20)
    /// The longest wait between two attempts.
    public var longestBackoff: Duration = .seconds(2)
    /// Send a notification again after a lost connection. Apple's notificationUUID makes that
    /// harmless: a repeat is answered DUPLICATE. No other write is ever sent twice.
    public var resendsNotifications = false
    /// A connection that owes an answer and has been silent for so long is given up; while the
    /// server asks Apple, silence means nothing.
    public var silenceLimit: Duration = .seconds(10)

    /// The defaults.
    public init() {}
}

extension Duration {
    /// Whole milliseconds, 1 at least and 4,294,967,295 at most: what the wire can say.
    var wireMilliseconds: UInt32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        guard seconds < Int64(UInt32.max / 1_000) else { return .max }
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        return UInt32(clamping: max(1, milliseconds))
    }
}
