internal import CMicrohttpd
internal import Synchronization

/// An HTTP/1.1 server: an address, and a function that answers.
///
/// What it bears by itself, see `HTTPListenerOptions` for the limits: slow and silent clients,
/// crowds of them, bodies without end, requests that can be read in two ways. A request reaches the
/// handler when it is whole.
package final class HTTPListener: Sendable {
    /// Answers a whole request; on a worker's thread, where it may wait.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse
    /// Sees the head of a request, without its body, before the body is read; a response ends the
    /// matter, nil leaves it to the handler. On a thread of the listener, which must never wait:
    /// for probes, and for what is refused whatever the body says.
    package typealias EarlyHandler = @Sendable (HTTPRequest) -> HTTPResponse?

    /// The port that it has, chosen by the system where 0 was asked for.
    package let port: UInt16
    /// "127.0.0.1:9420", "[::1]:9420".
    package let address: String

    private let core: ListenerCore
    private let daemons: DaemonRelay
    private let hasStopped = Atomic(false)

    /// Binds, starts its threads, and answers.
    ///
    /// - Throws: `HTTPListenerError`; nothing is left running then.
    package init(
        options: HTTPListenerOptions, early: @escaping EarlyHandler = { _ in nil },
        handler: @escaping Handler
    ) throws(HTTPListenerError) {
        options.precheck()
        let socket = try BoundSocket(host: options.host, port: options.port)
        port = socket.port
        address = BoundSocket.text(host: options.host, port: socket.port, isIPv6: socket.isIPv6)
        guard let core = ListenerCore(options: options, early: early, handler: handler) else {
            closeDescriptor(socket.descriptor)
            throw .cannotStart(address: address, hasIdentity: false)
        }
        guard let daemons = DaemonRelay(core, socket: socket) else {
            closeDescriptor(socket.descriptor)
            core.workers.end(until: .max)
            core.watch.end()
            throw .cannotStart(address: address, hasIdentity: options.identity != nil)
        }
        self.core = core
        self.daemons = daemons
    }

    deinit { stop(graceMilliseconds: 0) }

    /// What it has counted. Any thread.
    package var counts: HTTPListenerCounts {
        core.counters.counts(openConnections: core.registry.count)
    }

    /// Shows another certificate to whoever connects from now on; open connections go on. Any
    /// thread.
    ///
    /// - Throws: `HTTPListenerError.cannotStart` where certificate and key cannot be used, or where
    ///   the listener has stopped; all goes on as before then.
    package func replaceIdentity(_ identity: HTTPServerIdentity) throws(HTTPListenerError) {
        precondition(core.options.identity != nil, "plain text stays plain text")
        guard daemons.relieve(with: identity) else {
            throw .cannotStart(address: address, hasIdentity: true)
        }
    }

    /// Ends in order: nobody is accepted, idle connections are closed, requests that have begun
    /// are answered. Blocks until all is closed. Any thread but a handler's; a second call does
    /// nothing.
    ///
    /// - Parameter graceMilliseconds: When it is over, what still waits for its handler is answered
    ///   503, and the rest is cut. A handler that hangs is left behind with its thread.
    package func stop(graceMilliseconds: UInt64) {
        guard !hasStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let end = MonotonicTime.milliseconds + graceMilliseconds
        daemons.quiesce()
        core.registry.stop()
        core.registry.waitUntilEmpty(until: end)
        core.pending.abandon(.stopping)
        // Those just answered get a moment to read it.
        core.registry.waitUntilEmpty(until: MonotonicTime.milliseconds + 200)
        daemons.stop()
        core.watch.end()
        core.workers.end(until: max(end, MonotonicTime.milliseconds + 200))
    }
}

extension HTTPResponse {
    /// The server is going down.
    static let stopping = HTTPResponse(status: 503, fields: [HTTPField("Retry-After", "1")])
}
