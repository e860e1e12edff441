internal import CMicrohttpd

/// A connection of the library that crosses to a worker, who does nothing with it but resume it.
///
/// `@unchecked Sendable`: `MHD_resume_connection` may be called from any thread
/// (https://www.gnu.org/software/libmicrohttpd/manual/html_node/microhttpd_002dflow.html).
@safe struct SuspendedConnection: @unchecked Sendable {
    let handle: OpaquePointer

    func resume() { unsafe MHD_resume_connection(handle) }
}

/// The requests whose connections are suspended until a worker has the response, so that none is
/// resumed twice, and none is left behind when the library is stopped, which would abort the
/// process.
final class PendingWork: Sendable {
    private struct State {
        var suspended: [ObjectIdentifier: (exchange: Exchange, connection: SuspendedConnection)] =
            [:]
        /// Taken out above and not resumed yet.
        var resumingCount = 0
    }

    private let state = Monitor(State())

    /// A request whose connection has just been suspended.
    func add(_ exchange: Exchange, on connection: SuspendedConnection) {
        state.withLock { $0.suspended[ObjectIdentifier(exchange)] = (exchange, connection) }
    }

    /// Gives the response and resumes the connection, unless it was given up before.
    func finish(_ exchange: Exchange, _ response: HTTPResponse) {
        let connection = state.withLock { state -> SuspendedConnection? in
            guard let entry = state.suspended.removeValue(forKey: ObjectIdentifier(exchange)) else {
                return nil
            }
            exchange.response = response
            state.resumingCount += 1
            return entry.connection
        }
        guard let connection else { return }
        connection.resume()
        state.withLockNotifying { $0.resumingCount -= 1 }
    }

    /// Answers all that wait with `response`. What workers bring later is thrown away.
    func abandon(_ response: HTTPResponse) {
        let exchanges = state.withLock { state in state.suspended.values.map(\.exchange) }
        for exchange in exchanges { finish(exchange, response) }
        _ = state.wait { $0.suspended.isEmpty && $0.resumingCount == 0 ? true : nil }
    }
}
