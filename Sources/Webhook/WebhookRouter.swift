package import HTTP
internal import Service
internal import Synchronization

/// How often a path was answered with a status.
package struct HTTPRouteCount: Hashable, Sendable {
    /// A path of the list, or "other".
    package var path: String
    package var status: Int
    package var count: UInt64
}

/// Paths, their methods, and what answers them: the whole HTTP surface in one place.
///
/// | path | methods | answered |
/// | --- | --- | --- |
/// | `/apple/notifications` | POST | by a worker, which waits for the commit |
/// | `/livez`, `/readyz`, `/healthz`, `/startupz` | GET, HEAD | at once |
/// | `/metrics` | GET, HEAD | at once |
///
/// At once: on the listener's own thread, so that neither a stuck disk nor a flood of notifications
/// keeps a probe or a scrape waiting.
package final class WebhookRouter: Sendable {
    private enum Route: String, CaseIterable {
        case notifications = "/apple/notifications"
        case live = "/livez"
        case ready = "/readyz"
        case health = "/healthz"
        case startup = "/startupz"
        case metrics = "/metrics"

        var methods: [String] { self == .notifications ? ["POST"] : ["GET", "HEAD"] }
    }

    private let notifications: NotificationEndpoint
    private let health: HealthEndpoint
    private let metrics: MetricsEndpoint
    private let counts = RouteCounters(paths: Route.allCases.map(\.rawValue))

    /// A router over the endpoints.
    package init(
        notifications: NotificationEndpoint, health: HealthEndpoint, metrics: MetricsEndpoint
    ) {
        self.notifications = notifications
        self.health = health
        self.metrics = metrics
    }

    /// What was answered so far. What the listener refuses by itself does not come here.
    package var routeCounts: [HTTPRouteCount] { counts.values }

    /// Answers what needs no waiting: probes and scrapes, and what is refused whatever its body
    /// says; nil for a notification. For a listener's `early`.
    package func answerAtOnce(_ request: HTTPRequest) -> HTTPResponse? {
        guard let route = Route(exactly: request.target) else {
            return counted(Self.refusal(404, "NOT_FOUND", "nothing is served here"), "other")
        }
        guard route.methods.contains(where: { $0.utf8.elementsEqual(request.method.utf8) }) else {
            var response = Self.refusal(
                405, "METHOD_NOT_ALLOWED", "\(route.rawValue) takes \(route.methods[0])")
            response.fields.append(HTTPField("Allow", route.methods.joined(separator: ", ")))
            return counted(response, route.rawValue)
        }
        let response: HTTPResponse
        switch route {
        case .notifications:
            guard health.isDraining else { return nil }
            response = NotificationEndpoint.response(to: .goingDown)
        case .live: response = health.live(request)
        case .ready, .health: response = health.ready(request)
        case .startup: response = health.startup(request)
        case .metrics: response = metrics.answer(request, routes: counts.values)
        }
        return counted(response, route.rawValue)
    }

    /// Answers what `answerAtOnce` left; blocking. For a listener's `handler`.
    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        counted(notifications.answer(request), Route.notifications.rawValue)
    }

    private func counted(_ response: HTTPResponse, _ path: String) -> HTTPResponse {
        counts.count(path, response.status)
        return response
    }

    private static func refusal(_ status: Int, _ reason: String, _ message: String) -> HTTPResponse
    {
        HTTPResponse(
            status: status, fields: [HTTPField("Content-Type", "application/json")],
            body: JSONText.object(["reason": reason, "message": message]))
    }
}

extension Refusal {
    /// The server is going down; Apple's next attempt finds another, or the next run.
    fileprivate static let goingDown = Refusal(
        .draining, "this server is going down", retryAfterMilliseconds: 10_000)
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// The case of exactly these bytes: `==` of `String` takes canonical equivalents for equal.
    fileprivate init?(exactly text: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) })
        else { return nil }
        self = found
    }
}
