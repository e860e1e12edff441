internal import CCurl
internal import Synchronization

/// Sends requests and waits for their responses; any number of threads at once.
///
/// Blocking: not for event loops. Handles are kept for the next request, and with them open
/// connections and TLS sessions; as many connections are open as requests were under way at once.
/// TLS 1.2 or newer, the certificate and the name in it always verified. Redirects are not
/// followed: they are responses. Names of proxies are taken from the environment as curl does
/// (`HTTPS_PROXY`, `http_proxy`, `NO_PROXY`), so a request may go to the proxy that the operator
/// named there.
package final class HTTPClient: Sendable {
    /// What the library needs once for the whole process; it is never undone.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private let options: HTTPClientOptions
    private let idle = Monitor<[CurlHandle]>([])
    private let isCancelled = Atomic(false)
    private let openedConnections = Atomic<UInt64>(0)

    /// A client; connects to nobody yet.
    ///
    /// - Throws: `HTTPError` of kind `library`.
    package init(options: HTTPClientOptions) throws(HTTPError) {
        guard Self.isLibraryReady else {
            throw HTTPError(kind: .library, server: "", detail: "libcurl cannot be initialized")
        }
        self.options = options
        // An agent or roots that the library refuses are found now, not at the first request.
        let handle = try CurlHandle(options)
        idle.withLock { $0.append(handle) }
    }

    /// How many connections it has opened since its start; fewer than requests when they are kept.
    package var openedConnectionCount: UInt64 { openedConnections.load(ordering: .relaxed) }

    /// Sends one request and waits for the whole response.
    ///
    /// - Parameters:
    ///   - request: `target` is an absolute URL with `http` or `https`, `query` is not used.
    ///   - limits: nil: those of the options.
    ///   - cancellation: Ends the wait from another thread, within about a second.
    /// - Returns: The response, of whatever status.
    /// - Throws: `HTTPError`; the server may have acted on the request all the same.
    package func send(
        _ request: HTTPRequest, limits: HTTPLimits? = nil, cancellation: HTTPCancellation? = nil
    ) throws(HTTPError) -> HTTPResponse {
        let kept = idle.withLock { $0.popLast() }
        let handle = if let kept { kept } else { try CurlHandle(options) }
        defer { keep(handle) }
        let response = try handle.perform(request, limits: limits ?? options.limits) { [self] in
            isCancelled.load(ordering: .relaxed) || cancellation?.isCancelled == true
        }
        openedConnections.add(UInt64(handle.openedConnectionCount), ordering: .relaxed)
        return response
    }

    /// Gives up every request under way, within about a second, and refuses new ones; for the end
    /// of the process. Any thread.
    package func cancelAll() {
        isCancelled.store(true, ordering: .relaxed)
    }

    private func keep(_ handle: CurlHandle) {
        // Last in, first out: the most recently used connection is the least likely to be stale.
        // Beyond the limit the handle goes, and its connections with it.
        idle.withLock { handles in
            if handles.count < options.idleHandleCountMax { handles.append(handle) }
        }
    }
}

/// A word from another thread that a response is not wanted any more.
package final class HTTPCancellation: Sendable {
    private let flag = Atomic(false)

    /// Not cancelled.
    package init() {}

    /// Whether `cancel` was called.
    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Gives up the requests that carry it. Any thread; there is no way back.
    package func cancel() { flag.store(true, ordering: .relaxed) }
}
