package import HTTP

/// Whether whoever scrapes may.
package enum MetricsPermission: Hashable, Sendable {
    /// He may.
    case granted
    /// He has not said who he is, or is not known.
    case unauthenticated
    /// He is known, and may not read the metrics.
    case denied
}

/// `GET /metrics`.
package struct MetricsEndpoint: Sendable {
    private let snapshot: @Sendable () -> MetricsSnapshot
    private let permission: @Sendable (_ key: [UInt8]) -> MetricsPermission

    /// An endpoint over what is counted.
    ///
    /// - Parameters:
    ///   - permission: Judges the key of a scrape; empty: there is none. Called like `snapshot`.
    ///   - snapshot: Called for every scrape that may, on a thread of the listener; must not wait.
    package init(
        permission: @escaping @Sendable (_ key: [UInt8]) -> MetricsPermission = { _ in .granted },
        snapshot: @escaping @Sendable () -> MetricsSnapshot
    ) {
        self.permission = permission
        self.snapshot = snapshot
    }

    func answer(_ request: HTTPRequest, routes: [HTTPRouteCount]) -> HTTPResponse {
        switch permission(Self.key(request)) {
        case .granted: break
        case .unauthenticated:
            // RFC 6750 3: whoever showed nothing is not told what was wrong with it.
            return Self.refusal(
                401, "UNAUTHENTICATED", "metrics need a key: Authorization: Bearer KEY",
                [HTTPField("WWW-Authenticate", "Bearer realm=\"entitled\"")])
        case .denied:
            return Self.refusal(
                403, "ROLE_MISSING", "this key may not read the metrics, which are of all apps", [])
        }
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

    /// The bearer token (RFC 6750 2.1) of the only Authorization field; empty without one. The
    /// scheme's case does not matter, the token's does.
    private static func key(_ request: HTTPRequest) -> [UInt8] {
        let fields = request.fields.filter { $0.name.lowercased() == "authorization" }
        guard fields.count == 1 else { return [] }
        let value = Array(fields[0].value.utf8)
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, zip(value, scheme).allSatisfy({ $0 | 0x20 == $1 }) else {
            return []
        }
        return Array(value.dropFirst(scheme.count).drop { $0 == 0x20 })
    }

    private static func refusal(
        _ status: Int, _ reason: String, _ message: String, _ fields: [HTTPField]
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: fields + [
                HTTPField("Content-Type", "application/json"),
                HTTPField("Cache-Control", "no-store"),
            ],
            body: JSONText.object(["reason": reason, "message": message]))
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
