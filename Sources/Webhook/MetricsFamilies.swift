internal import Entitlements
internal import Service
internal import Storage

/// A snapshot as families of metrics.
struct MetricsFamilies {
    let snapshot: MetricsSnapshot
    var text: MetricsText

    /// The whole text of a snapshot.
    static func text(of snapshot: MetricsSnapshot, in format: MetricsFormat) -> [UInt8] {
        var families = MetricsFamilies(snapshot: snapshot, text: MetricsText(format))
        families.writeBuild()
        families.writeRPC()
        families.writeChecks()
        families.writeIngest()
        families.writeFamilies()
        families.writeRebuilds()
        families.writeApple()
        families.writeStore()
        families.writeHTTP()
        families.writeReloads()
        families.writeProcess()
        return families.text.finished()
    }

    private mutating func writeBuild() {
        let build = snapshot.build
        text.gauge(
            "entitled_build_info", "What is running; always 1.",
            [
                (
                    [
                        MetricsLabel("version", build.version),
                        MetricsLabel("commit", build.commit), MetricsLabel("swift", build.swift),
                        MetricsLabel("rocksdb", build.rocksdb),
                    ], 1
                )
            ])
    }

    private mutating func writeRPC() {
        let rpc = snapshot.rpc
        typealias Outcome = MetricsSnapshot.RPC.Outcome
        let expected = rpc.methods.map { Outcome(method: $0, code: "OK") }
        let outcomes = Set(rpc.requests.keys).union(expected)
            .sorted { ($0.method, $0.code) < ($1.method, $1.code) }
        text.counter(
            "entitled_rpc_requests_total", "Calls answered, by method and status code.",
            outcomes.map { outcome in
                (
                    [MetricsLabel("method", outcome.method), MetricsLabel("code", outcome.code)],
                    Double(rpc.requests[outcome] ?? 0)
                )
            })
        writeHistogram(
            "entitled_rpc_duration_seconds", "From a whole frame to its answer.", "method",
            rpc.durations, expected: rpc.methods, bounds: HistogramCounts.answerBounds)
        writeGauge("entitled_rpc_inflight", "Calls under way.", "listener", rpc.inFlight)
        writeGauge("entitled_connections", "Open connections.", "listener", rpc.connections)
        text.counter(
            "entitled_rpc_received_bytes_total", "Bytes received by the protocol's listeners.",
            [([], Double(rpc.receivedByteCount))])
        text.counter(
            "entitled_rpc_sent_bytes_total", "Bytes sent by the protocol's listeners.",
            [([], Double(rpc.sentByteCount))])
        writeCounter(
            "entitled_rpc_rejected_total", "Calls refused before they were begun.", "reason",
            rpc.rejections, expected: MetricsLabels.rejections)
        writeCounter(
            "entitled_connections_closed_total", "Connections closed by a limit.", "limit",
            rpc.closures, expected: MetricsLabels.closures)
        writeCounter(
            "entitled_tls_handshakes_total", "TLS handshakes of the protocol's listeners.",
            "result", rpc.handshakes, expected: MetricsLabels.handshakes)
        if !rpc.keyUses.isEmpty {
            text.gauge(
                "entitled_key_last_used_timestamp_seconds",
                "When the holder of a key was last seen, to a minute; 0 since the start.",
                rpc.keyUses.sorted { $0.key < $1.key }.map {
                    ([MetricsLabel("key", $0.key)], Double($0.value / 1_000))
                })
        }
        text.counter(
            "entitled_auth_shut_out_connections_total",
            "Connections ended after too many requests without a valid key.",
            [([], Double(rpc.shutOutCount))])
        writeCounter(
            "entitled_audit_missing_total", "Calls that the audit does not show.", "cause",
            rpc.missingAudits, expected: ["lost", "suppressed"])
        guard let end = rpc.certificateEnd else { return }
        text.gauge(
            "entitled_tls_certificate_expiry_timestamp_seconds",
            "When the certificate of the protocol's listeners ends.", [([], end)])
    }

    private mutating func writeChecks() {
        let checks = snapshot.checks
        let results = [("allowed", checks.allowed), ("denied", checks.denied)]
        text.counter(
            "entitled_check_results_total", "Checks answered yes or no.",
            snapshot.scopes.flatMap { scope in
                results.map { name, counts in
                    (
                        Self.labels(scope) + [MetricsLabel("result", name)],
                        Double(counts[scope] ?? 0)
                    )
                }
            })
        text.counter(
            "entitled_check_denied_reason_total", "Checks answered no, by reason.",
            MetricsLabels.denials.map { reason in
                (
                    [MetricsLabel("reason", MetricsLabels.name(of: reason))],
                    Double(checks.deniedReasons[reason] ?? 0)
                )
            })
        let table = [MetricsLabel("cache", "customers")]
        text.counter(
            "entitled_cache_hits_total", "Look-ups answered from memory.",
            [(table, Double(checks.tableHits))])
        text.counter(
            "entitled_cache_misses_total", "Look-ups that read the store.",
            [(table, Double(checks.tableMisses))])
        text.counter(
            "entitled_cache_evictions_total", "Entries that had to make room.",
            [(table, Double(checks.tableEvictions))])
        text.gauge(
            "entitled_cache_bytes", "Memory in use.", [(table, Double(checks.tableByteCount))])
        text.counter(
            "entitled_unmetered_checks_total", "Granted checks that could not be metered.",
            [([], Double(checks.unmeteredCount))])
    }

    private mutating func writeStore() {
        let store = snapshot.store
        for (name, help, value) in [
            ("entitled_revision", "The last revision that is durable and visible.", store.revision),
            ("entitled_customers", "Customers known, unnamed ones included.", store.customerCount),
            ("entitled_transactions", "Transactions stored.", store.transactionCount),
        ] {
            text.gauge(name, help, [([], Double(value))])
        }
        writeGauge("entitled_store_bytes", "Bytes of the store.", "kind", store.byteCounts)
        writeHistogram(
            "entitled_store_sync_duration_seconds", "Durable writes of the commit thread.",
            store.syncDuration, bounds: HistogramCounts.callBounds)
        text.gauge(
            "entitled_backup_last_success_timestamp_seconds",
            "When the newest complete backup was begun, since 1970; 0 without one.",
            [([], Double(store.lastBackupAt?.milliseconds ?? 0) / 1_000)])
        text.gauge(
            "entitled_backup_duration_seconds", "What the newest complete backup took.",
            [([], Double(store.backupMilliseconds) / 1_000)])
    }

    private mutating func writeReloads() {
        let reloads = snapshot.reloads
        text.counter(
            "entitled_config_reloads_total", "Times that the configuration was read again.",
            [("succeeded", reloads.succeededCount), ("failed", reloads.failedCount)].map {
                ([MetricsLabel("result", $0)], Double($1))
            })
        text.gauge(
            "entitled_config_last_reload_success",
            "1 when the last reading of the configuration succeeded, else 0.",
            [([], reloads.hasLastSucceeded ? 1 : 0)])
    }

    private mutating func writeProcess() {
        guard let process = snapshot.process else { return }
        text.counter(
            "process_cpu_seconds_total", "User and system time.", [([], process.cpuSeconds)])
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Memory in RAM.", process.residentByteCount),
            ("process_virtual_memory_bytes", "Address space in use.", process.virtualByteCount),
            ("process_open_fds", "Open descriptors.", process.openDescriptorCount),
            ("process_max_fds", "The most descriptors allowed.", process.descriptorCountMax),
        ] {
            text.gauge(name, help, [([], Double(value))])
        }
        text.gauge(
            "process_start_time_seconds", "When the process started, since 1970.",
            [([], process.startTimeSeconds)])
    }
}

// MARK: - Families of one label

extension MetricsFamilies {
    static func labels(_ scope: Scope) -> [MetricsLabel] {
        [
            MetricsLabel("app", scope.bundleID),
            MetricsLabel("environment", scope.environment.name.lowercased()),
        ]
    }

    /// The apps of the configured worlds, each once.
    var bundleIDs: [String] { Set(snapshot.scopes.map(\.bundleID)).sorted() }

    /// Every value that is expected, and what there is besides.
    private static func keys<Value>(
        _ values: [String: Value], expected: [String]
    ) -> [String] {
        expected + values.keys.filter { !expected.contains($0) }.sorted()
    }

    mutating func writeCounter(
        _ name: String, _ help: String, _ label: String, _ values: [String: UInt64],
        expected: [String]
    ) {
        // Without its label `Double.init` would be the one that takes a bit pattern.
        let numbers = values.mapValues { Double($0) }
        writeCounter(name, help, label, numbers, expected: expected)
    }

    mutating func writeCounter(
        _ name: String, _ help: String, _ label: String, _ values: [String: Double],
        expected: [String]
    ) {
        text.counter(
            name, help,
            Self.keys(values, expected: expected).map {
                ([MetricsLabel(label, $0)], values[$0] ?? 0)
            })
    }

    mutating func writeGauge(
        _ name: String, _ help: String, _ label: String, _ values: [String: UInt64]
    ) {
        text.gauge(
            name, help,
            values.keys.sorted().map { ([MetricsLabel(label, $0)], Double(values[$0] ?? 0)) })
    }

    mutating func writeHistogram(
        _ name: String, _ help: String, _ label: String, _ values: [String: HistogramCounts],
        expected: [String], bounds: [Double]
    ) {
        text.histogram(
            name, help,
            Self.keys(values, expected: expected).map {
                ([MetricsLabel(label, $0)], values[$0] ?? HistogramCounts(bounds: bounds))
            })
    }

    mutating func writeHistogram(
        _ name: String, _ help: String, _ counts: HistogramCounts?, bounds: [Double]
    ) {
        text.histogram(name, help, [([], counts ?? HistogramCounts(bounds: bounds))])
    }
}
