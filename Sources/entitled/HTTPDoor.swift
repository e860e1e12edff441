internal import Authorization
internal import EventLoop
internal import HTTP
internal import Reconciliation
internal import RocksDBStorage
internal import Service
internal import Transport
internal import Webhook

/// The HTTP listener: Apple's notifications, probes and metrics.
struct HTTPDoor: Sendable {
    /// How long a stop waits for requests that have begun: a commit takes milliseconds, and a
    /// client that drips its body must not hold the process up.
    static let stopMilliseconds: UInt64 = 3_000

    private let listener: HTTPListener

    /// Where it listens, with the port that the system chose.
    var address: String { listener.address }

    /// Opens it.
    ///
    /// - Throws: the address is in use, or the certificate cannot be used.
    init(
        _ settings: HTTPSettings, identity: HTTPServerIdentity?, _ parts: ServingParts
    ) throws(StartFailure) {
        let metrics = MetricsCollector(parts)
        let listening = ListeningDoor()
        let router = WebhookRouter(
            notifications: NotificationEndpoint { Self.ingest($0, parts) },
            health: HealthEndpoint { Self.health(of: parts) },
            metrics: MetricsEndpoint(permission: { Self.permission($0, parts) }) {
                metrics.snapshot(http: listening.counts)
            })
        do throws(HTTPListenerError) {
            listener = try HTTPListener(
                options: settings.listenerOptions(identity: identity),
                early: { router.answerAtOnce($0) }, handler: { router.answer($0) })
        } catch {
            throw StartFailure(error)
        }
        listening.set(listener)
    }

    /// Shows another certificate to whoever connects from now on.
    ///
    /// - Throws: it cannot be used; all goes on as before.
    func show(_ identity: HTTPServerIdentity) throws(HTTPListenerError) {
        try listener.replaceIdentity(identity)
    }

    /// Answers what has begun, and closes.
    func stop(isAtOnce: Bool) {
        listener.stop(graceMilliseconds: isAtOnce ? 0 : Self.stopMilliseconds)
    }

    /// Verifies a body, and waits until it is durable and visible.
    private static func ingest(
        _ body: [UInt8], _ parts: ServingParts
    ) -> Result<WriteReply, Refusal> {
        do throws(Refusal) {
            let event = try parts.service.prepare(.notification(payload: body))
            let reply = try parts.server.door.commit(event)
            parts.apple?.reconciler.wake()
            return .success(reply)
        } catch {
            return .failure(error)
        }
    }

    /// Whether whoever shows `key` may read the metrics: they are those of all apps, so a key that
    /// is limited to some may not, whatever its roles.
    static func permission(_ key: [UInt8], _ parts: ServingParts) -> MetricsPermission {
        let ring = parts.keys.ring
        if ring.isOpen || parts.hasOpenMetrics { return .granted }
        let grant = ring.grant(key: key.span, certificateNames: [])
        let now = WallClock.nowMilliseconds
        guard grant.fault(at: now) == .none else { return .unauthenticated }
        ring.noteUse(of: grant, atMilliseconds: now)
        return grant.roles.allow(.metrics) && !grant.isLimited ? .granted : .denied
    }

    /// What the probes say; reads no store and waits for nobody.
    private static func health(of parts: ServingParts) -> HealthReport {
        let silence = max(
            parts.server.stalledMilliseconds,
            parts.state.stalledMilliseconds(atMilliseconds: MonotonicClock.nowMilliseconds))
        let problem =
            parts.store.readProblem != nil
            ? "the store is damaged; the log says where"
            : parts.store.isWritable ? nil : "the store takes no writes"
        return HealthReport(
            loopSilenceMilliseconds: silence, storeProblem: problem,
            isDraining: parts.state.isDraining,
            warming: parts.state.hasWarmed ? nil : warming(parts.service))
    }

    private static func warming(_ service: DaemonService) -> WarmingProgress {
        WarmingProgress(
            doneCount: UInt64(service.reader.tableUsage.customers),
            totalCount: service.reader.serverInfo().customerCount)
    }
}

/// The listener, for the metrics that it serves itself.
private final class ListeningDoor: Sendable {
    private let listener = Locked<HTTPListener?>(nil)

    var counts: HTTPListenerCounts { listener.withLock { $0?.counts } ?? HTTPListenerCounts() }

    func set(_ listener: HTTPListener) { self.listener.withLock { $0 = listener } }
}

extension HTTPSettings {
    /// What the listener is told.
    func listenerOptions(identity: HTTPServerIdentity?) -> HTTPListenerOptions {
        var options: HTTPListenerOptions
        switch address {
        case .ipv4(let host, let port), .ipv6(let host, let port):
            options = HTTPListenerOptions(host: host, port: port, identity: identity)
        case .unix: preconditionFailure("the configuration refuses a Unix socket here")
        }
        options.bodyByteCountMax = bodyByteCountMax
        options.bufferedByteCountMax = max(options.bufferedByteCountMax, bodyByteCountMax)
        options.connectionCountMax = connectionCountMax
        return options
    }
}
