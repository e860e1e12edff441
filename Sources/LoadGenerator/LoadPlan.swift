package import EventLoop
internal import OpenSSL

/// How hard a target is driven, and for how long.
package struct LoadPlan: Equatable, Sendable {
    /// When requests are sent.
    package enum Pace: Equatable, Sendable {
        /// As soon as an earlier one is answered: every connection keeps its depth.
        case closed
        /// At a rate, whatever comes back. Latency counts from the instant of the schedule, so that
        /// a request that had to wait for a place in the generator has waited for the server.
        case open(requestsPerSecond: Double, arrivals: Arrivals)
    }

    /// How the instants of an open loop are spaced.
    package enum Arrivals: String, CaseIterable, Equatable, Sendable {
        /// Evenly.
        case constant
        /// At random, as from many who do not know of each other.
        case poisson
    }

    /// Where the server is.
    package var address: SocketAddress
    /// Nil: plain text.
    package var tls: LoadTLS?
    /// Connections over all threads.
    package var connectionCount = 16
    /// Requests in flight on each.
    package var depth = 16
    /// Threads of the generator.
    package var threadCount = 1
    /// Processors that these threads may run on; empty = any.
    package var processors: [Int] = []
    /// When requests are sent.
    package var pace = Pace.closed
    /// Nothing is counted before, in nanoseconds.
    package var warmUpNanoseconds: UInt64 = 500_000_000
    /// How long a round is, in nanoseconds.
    package var roundNanoseconds: UInt64 = 5_000_000_000
    /// How many rounds follow each other.
    package var roundCount = 3
    /// Draws everything that is drawn.
    package var seed: UInt64 = 1
    /// Without any answer for so long the run fails, in nanoseconds.
    package var stallNanoseconds: UInt64 = 10_000_000_000

    /// A plan with the defaults above.
    package init(address: SocketAddress) { self.address = address }

    /// Slices of throughput over time are so long, in nanoseconds.
    package static let sliceNanoseconds: UInt64 = 100_000_000
    /// The most connections.
    package static let connectionCountMax = 10_000
    /// The most requests in flight on one of them.
    package static let depthMax = 65_536
    /// The most threads.
    package static let threadCountMax = 64
    /// The most rounds.
    package static let roundCountMax = 1_000
}

/// Why a run ended before its time.
package enum LoadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The target takes no connection.
    case connectFailed(address: String, code: Int32)
    /// The target does not want what is said first.
    case refused(String)
    /// The target ended a connection.
    case connectionLost(code: Int32)
    /// What came has no meaning.
    case protocolViolation(String)
    /// Nothing came for so long, in nanoseconds.
    case stalled(nanoseconds: UInt64)
    /// The operating system refused something of the generator's own.
    case system(operation: String, code: Int32)

    /// For people.
    package var description: String {
        switch self {
        case .connectFailed(let address, let code):
            "\(address): no connection: \(SystemError.text(code))"
        case .refused(let words): "the server refused the connection: \(words)"
        case .connectionLost(let code):
            code == 0
                ? "the server ended a connection"
                : "a connection was lost: \(SystemError.text(code))"
        case .protocolViolation(let what): "the stream has no meaning any more: \(what)"
        case .stalled(let nanoseconds):
            "no answer came for \(Double(nanoseconds / 1_000_000) / 1_000) s"
        case .system(let operation, let code): "\(operation): \(SystemError.text(code))"
        }
    }
}
