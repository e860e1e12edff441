package import HTTP

/// `GET /metrics`.
package struct MetricsEndpoint: Sendable {
    private let snapshot: @Sendable () -> MetricsSnapshot

    /// An endpoint over what is counted.
    ///
    /// - Parameter snapshot: Called for every scrape, on a thread of the listener; must not wait.
    package init(snapshot: @escaping @Sendable () -> MetricsSnapshot) {
        self.snapshot = snapshot
    }

    func answer(_ request: HTTPRequest, routes: [HTTPRouteCount]) -> HTTPResponse {
        let format = MetricsFormat(accept: request.fields.value("accept"))
        var snapshot = snapshot()
        snapshot.http.routes = routes
        return HTTPResponse(
            status: 200,
            fields: [
                HTTPField("Content-Type", format.contentType),
                HTTPField("Cache-Control", "no-store"),
            ],
            body: MetricsFamilies.text(of: snapshot, in: format))
    }
}

extension MetricsSnapshot {
    /// The HTTP listener.
    package struct HTTP: Hashable, Sendable {
        /// Filled by the router.
        package var routes: [HTTPRouteCount] = []
        package var listener = HTTPListenerCounts()

        /// Nothing yet.
        package init() {}
    }
}
