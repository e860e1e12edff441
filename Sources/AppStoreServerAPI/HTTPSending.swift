package import Entitlements
package import HTTP

extension AppStoreServerSurroundings {
    /// The longest response that is taken: a page of 20 transactions has 200 KiB, the statuses of a
    /// customer with a hundred chains 2 MiB.
    package static let bodyByteCountMax = 16 << 20

    /// Surroundings with a real network.
    ///
    /// - Parameters:
    ///   - client: Sends; `cancelAll` of it ends what is under way.
    ///   - now: The time of day.
    ///   - sleep: Blocks for so many milliseconds; false: told to give up.
    package init(
        client: HTTPClient, now: @escaping @Sendable () -> Timestamp,
        sleep: @escaping @Sendable (Int64) -> Bool
    ) {
        self.init(
            send: { (request, timeoutMilliseconds) throws(SendFailure) in
                do throws(HTTPError) {
                    return try client.send(
                        request,
                        limits: HTTPLimits(
                            totalMilliseconds: Int(clamping: timeoutMilliseconds),
                            bodyByteCountMax: Self.bodyByteCountMax))
                } catch {
                    throw SendFailure(error)
                }
            }, now: now, sleep: sleep)
    }
}

extension SendFailure {
    /// What an error of the HTTP client means here.
    init(_ error: HTTPError) {
        self =
            switch error.kind {
            case .cancelled: .cancelled
            case .protocolViolation, .tooLarge: .unusable(message: error.description)
            case .resolve, .connect, .timedOut, .tls, .closed, .invalidRequest, .library:
                .unreachable(message: error.description, mayRetryHelp: error.mayRetryHelp)
            }
    }
}
