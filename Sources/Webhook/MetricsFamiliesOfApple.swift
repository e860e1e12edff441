internal import Entitlements
internal import HTTP
internal import Service
internal import Storage

extension MetricsFamilies {
    mutating func writeIngest() {
        let ingest = snapshot.ingest
        text.counter(
            "entitled_ingest_notifications_total", "Notifications of Apple's that came in.",
            notificationSamples)
        writeHistogram(
            "entitled_ingest_duration_seconds", "From a notification's body to its answer.", "app",
            ingest.durations, expected: bundleIDs, bounds: HistogramCounts.callBounds)
        writeHistogram(
            "entitled_ingest_age_seconds", "From Apple's signature to the arrival.", "app",
            ingest.ages, expected: bundleIDs, bounds: HistogramCounts.ageBounds)
        writeCounter(
            "entitled_jws_verify_total", "Signatures checked.", "result", ingest.verifications,
            expected: MetricsLabels.verifications)
        writeHistogram(
            "entitled_jws_verify_duration_seconds", "Checking the signatures of one call.",
            ingest.verificationDuration, bounds: HistogramCounts.answerBounds)
    }

    /// Every world, type and outcome; then what was refused before anybody knew of which world.
    private var notificationSamples: [MetricsText.Sample] {
        typealias Key = MetricsSnapshot.Ingest.Key
        let counts = notificationCounts
        var samples: [MetricsText.Sample] = []
        func add(_ key: Key, _ scopeLabels: [MetricsLabel]) {
            let labels = [
                MetricsLabel("type", key.type), MetricsLabel("outcome", key.outcome.rawValue),
            ]
            samples.append((scopeLabels + labels, Double(counts[key] ?? 0)))
        }
        for scope in snapshot.scopes {
            for type in MetricsLabels.notificationTypes {
                for outcome in MetricsSnapshot.Ingest.Outcome.allCases {
                    add(Key(scope: scope, type: type, outcome: outcome), Self.labels(scope))
                }
            }
        }
        let unknown = [MetricsLabel("app", ""), MetricsLabel("environment", "")]
        for outcome in [MetricsSnapshot.Ingest.Outcome.rejected, .deferred] {
            add(Key(scope: nil, type: MetricsLabels.otherType, outcome: outcome), unknown)
        }
        return samples
    }

    /// A type counts once, under its name or under "other"; what an unverified body says of its
    /// type is not believed.
    private var notificationCounts: [MetricsSnapshot.Ingest.Key: UInt64] {
        var counts: [MetricsSnapshot.Ingest.Key: UInt64] = [:]
        for (key, count) in snapshot.ingest.notifications {
            var key = key
            let isKnown = key.scope != nil
            key.type = isKnown ? MetricsLabels.notificationType(key.type) : MetricsLabels.otherType
            counts[key, default: 0] += count
        }
        return counts
    }

    mutating func writeFamilies() {
        let families = snapshot.families
        typealias Key = MetricsSnapshot.Families.Key
        text.counter(
            "entitled_revocations_total", "Transactions that lost their access, by cause.",
            bundleIDs.flatMap { app in
                MetricsLabels.causes.map { cause in
                    (
                        [MetricsLabel("app", app), MetricsLabel("cause", cause)],
                        Double(families.revocations[Key(bundleID: app, cause: cause)] ?? 0)
                    )
                }
            })
        writeCounter(
            "entitled_family_cuts_total", "Refunds that suspended members of a household.", "app",
            families.cuts, expected: bundleIDs)
        writeHistogram(
            "entitled_family_cut_members", "People suspended by one refund.", "app",
            families.cutMembers, expected: bundleIDs, bounds: HistogramCounts.peopleBounds)
        writeHistogram(
            "entitled_family_cut_duration_seconds",
            "From a refund's receipt to the last member denied.", families.cutDuration,
            bounds: HistogramCounts.callBounds)
    }

    mutating func writeRebuilds() {
        let apple = snapshot.apple
        typealias Rebuild = MetricsSnapshot.Apple.Rebuild
        text.counter(
            "entitled_rebuilds_total", "Rebuilds of a customer, by what asked for them.",
            MetricsLabels.triggers.flatMap { trigger in
                MetricsLabels.rebuildResults.map { result in
                    (
                        [MetricsLabel("trigger", trigger), MetricsLabel("result", result)],
                        Double(apple.rebuilds[Rebuild(trigger: trigger, result: result)] ?? 0)
                    )
                }
            })
        writeHistogram(
            "entitled_rebuild_duration_seconds", "One rebuild, waiting for Apple included.",
            apple.rebuildDuration, bounds: HistogramCounts.callBounds)
        text.gauge(
            "entitled_rebuild_queue", "Customers whose history is to be fetched.",
            [([], Double(apple.rebuildQueueCount))])
        writeCounter(
            "entitled_rebuild_changed_total", "Answers that rebuilds flipped.", "direction",
            apple.rebuildChanges, expected: MetricsLabels.directions)
    }

    mutating func writeApple() {
        let apple = snapshot.apple
        typealias Request = MetricsSnapshot.Apple.Request
        let endpoints = Set(apple.requests.keys.map(\.endpoint)).union(apple.endpoints).sorted()
        text.counter(
            "entitled_apple_requests_total", "Requests to the App Store Server API.",
            endpoints.flatMap { endpoint in
                MetricsLabels.statusClasses.map { status in
                    (
                        [MetricsLabel("endpoint", endpoint), MetricsLabel("status", status)],
                        Double(apple.requests[Request(endpoint: endpoint, status: status)] ?? 0)
                    )
                }
            })
        writeHistogram(
            "entitled_apple_request_duration_seconds", "One request to Apple.", "endpoint",
            apple.durations, expected: endpoints, bounds: HistogramCounts.callBounds)
        writeCounter(
            "entitled_apple_throttled_seconds_total", "Time that requests waited for a limit.",
            "endpoint", apple.throttledSeconds, expected: endpoints)
        text.counter(
            "entitled_recovered_notifications_total",
            "Notifications that never came, and were recovered from Apple.",
            [([], Double(apple.recoveredNotificationCount))])
        text.counter(
            "entitled_apple_problems_total", "Items of Apple's answers that were not believed.",
            [([], Double(apple.problemCount))])
        guard let unauthorized = apple.unauthorizedScopes else { return }
        text.gauge(
            "entitled_apple_authorized",
            "0 while Apple does not accept the App Store Server API key, else 1.",
            snapshot.scopes.map { (Self.labels($0), unauthorized.contains($0) ? 0 : 1) })
        text.gauge(
            "entitled_apple_last_success_timestamp_seconds",
            "When a fetch last succeeded, since 1970; 0 before the first.",
            [([], Double(apple.lastSuccessAt?.milliseconds ?? 0) / 1_000)])
    }

    mutating func writeHTTP() {
        let http = snapshot.http
        text.counter(
            "entitled_http_requests_total", "Requests answered by the HTTP listener.",
            http.routes.map { route in
                (
                    [MetricsLabel("path", route.path), MetricsLabel("code", "\(route.status)")],
                    Double(route.count)
                )
            })
        let counts = http.listener
        let trouble: [(String, Int)] = [
            ("refused_connection", counts.refusedConnections),
            ("evicted_connection", counts.evictedConnections),
            ("timed_out", counts.timedOutConnections), ("too_large", counts.tooLargeRequests),
            ("malformed", counts.malformedRequests), ("overloaded", counts.overloadedRequests),
            ("aborted", counts.abortedRequests),
        ]
        text.counter(
            "entitled_http_trouble_total", "What went wrong before a request was whole.",
            trouble.map { ([MetricsLabel("kind", $0.0)], Double($0.1)) })
        text.counter(
            "entitled_http_connections_total", "Connections accepted by the HTTP listener.",
            [([], Double(counts.acceptedConnections))])
    }
}
