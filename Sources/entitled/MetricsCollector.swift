internal import Authorization
internal import Backup
internal import Entitlements
internal import EventLoop
internal import HTTP
internal import OpenSSL
internal import Reconciliation
internal import Service
internal import Session
internal import Transport
internal import Webhook

/// Reads what the parts of the server have counted, for a scrape. Any thread; waits for nobody.
struct MetricsCollector: Sendable {
    private let parts: ServingParts

    init(_ parts: ServingParts) { self.parts = parts }

    /// All of it, with what the HTTP listener has counted.
    func snapshot(http: HTTPListenerCounts) -> MetricsSnapshot {
        let scopes = parts.service.scopes
        let calls = parts.server.callCounts
        var snapshot = MetricsSnapshot()
        snapshot.build.version = Version.number
        snapshot.build.commit = Version.commit
        snapshot.build.swift = Version.compiler
        snapshot.scopes = scopes.map(\.scope)
        snapshot.http.listener = http
        fillCalls(&snapshot.rpc, calls, http: http)
        fillChecks(&snapshot.checks, calls)
        fillIngest(&snapshot.ingest, calls)
        fillFamilies(&snapshot.families)
        fillApple(&snapshot.apple)
        fillStore(&snapshot.store)
        snapshot.reloads = MetricsSnapshot.Reloads(parts.state.reloads)
        snapshot.process = MetricsSnapshot.Process(ProcessFacts.current)
        return snapshot
    }

    private func fillCalls(
        _ rpc: inout MetricsSnapshot.RPC, _ calls: CallCounts, http: HTTPListenerCounts
    ) {
        rpc.methods = CallMethod.allCases.map(\.name)
        for method in CallMethod.allCases {
            for code in StatusCode.allCases where calls[method, code] > 0 {
                rpc.requests[.init(method: method.name, code: code.name)] = calls[method, code]
            }
            rpc.durations[method.name] = HistogramCounts(calls.durations(of: method))
        }
        let counts = parts.server.counts
        rpc.connections = [
            "rpc": UInt64(max(0, counts.connections)), "http": UInt64(max(0, http.connections)),
        ]
        rpc.inFlight = ["rpc": UInt64(parts.server.outstandingCallCount)]
        rpc.receivedByteCount = calls.receivedByteCount
        rpc.sentByteCount = calls.sentByteCount
        rpc.closures = [
            "connections": UInt64(
                max(0, counts.refusedConnections - counts.refusedConnectionsOfPeers)),
            "peer": UInt64(counts.refusedConnectionsOfPeers),
            "memory": UInt64(counts.shedConnections),
        ]
        rpc.handshakes = [
            "ok": UInt64(counts.handshakes), "failed": UInt64(counts.failedHandshakes),
        ]
        rpc.certificateEnd = parts.tls?.context.notAfterMilliseconds.map { Double($0) / 1_000 }
        rpc.shutOutCount = parts.keys.shutOutCount
        let ring = parts.keys.ring
        for (index, record) in ring.records.enumerated() where !record.isRevoked {
            rpc.keyUses[record.id] = ring.lastUse(ofRecordAt: index)
        }
        rpc.missingAudits = [
            "lost": parts.audit?.droppedCount ?? 0,
            "suppressed": parts.audit?.suppressedCount ?? 0,
        ]
        let refusals = parts.service.counters.refusalCounts
        func sum(_ reasons: RefusalReason...) -> UInt64 {
            reasons.reduce(0) { $0 + (refusals[$1] ?? 0) }
        }
        rpc.rejections = [
            "deadline": sum(.deadline, .revisionNotReached), "overload": sum(.overloaded),
            "frame_size": sum(.frameTooLarge), "draining": sum(.draining),
            "auth": sum(
                .keyMissing, .keyUnknown, .keyExpired, .keyRevoked, .roleMissing, .appNotAllowed),
        ]
    }

    private func fillChecks(_ checks: inout MetricsSnapshot.Checks, _ calls: CallCounts) {
        for (index, scope) in parts.service.scopes {
            for reason in AccessReason.allCases {
                let count = calls[index, reason]
                guard count > 0 else { continue }
                if reason.isGranted {
                    checks.allowed[scope, default: 0] += count
                } else {
                    checks.denied[scope, default: 0] += count
                    checks.deniedReasons[reason, default: 0] += count
                }
            }
        }
        let checkCount = (checks.allowed.values.reduce(0, +) + checks.denied.values.reduce(0, +))
        checks.tableMisses = min(checkCount, parts.service.counters.storeReadCount)
        checks.tableHits = checkCount - checks.tableMisses
        checks.tableByteCount = UInt64(parts.service.reader.tableUsage.bytes)
        checks.unmeteredCount = UInt64(max(0, parts.server.counts.unmeteredChecks))
    }

    private func fillStore(_ store: inout MetricsSnapshot.Store) {
        let info = parts.service.reader.serverInfo()
        store.revision = info.revision
        store.customerCount = info.customerCount
        store.transactionCount = info.transactionCount
        let size = StoreSize(directory: parts.dataDirectory)
        store.byteCounts = [
            "tables": size.tableByteCount, "log": size.logByteCount, "other": size.otherByteCount,
        ]
        let backups = parts.backups?.counts
        store.lastBackupAt = backups?.lastSuccessAt
        store.backupMilliseconds = backups?.durationMilliseconds ?? 0
        store.syncDuration = parts.service.timings.commits.counts
    }
}

// MARK: - Apple's side

extension MetricsCollector {
    private func fillIngest(_ ingest: inout MetricsSnapshot.Ingest, _ calls: CallCounts) {
        let counts = parts.service.commitCounts
        for (kind, count) in counts.notifications {
            let key = MetricsSnapshot.Ingest.Key(
                scope: kind.scope, type: MetricsLabels.notificationType(kind.type),
                outcome: .init(kind.disposition))
            ingest.notifications[key, default: 0] += count
        }
        for (app, counts) in counts.apps {
            ingest.durations[app] = counts.durations
            ingest.ages[app] = counts.ages
        }
        for (reason, count) in counts.refusedNotifications {
            let key = MetricsSnapshot.Ingest.Key(
                scope: nil, type: MetricsLabels.otherType,
                outcome: MetricsLabels.outcome(of: Refusal(reason, "")))
            ingest.notifications[key, default: 0] += count
        }
        let verifications = parts.service.timings.verifications.counts
        ingest.verificationDuration = verifications
        ingest.verifications["ok"] = verifications.count
        for (reason, count) in parts.service.counters.refusalCounts {
            guard let result = MetricsLabels.verification(of: reason) else { continue }
            ingest.verifications[result, default: 0] += count
        }
    }

    private func fillFamilies(_ families: inout MetricsSnapshot.Families) {
        let commits = parts.service.commitCounts
        families.cutDuration = commits.cutDurations
        for (app, counts) in commits.apps {
            for (reason, count) in counts.endings {
                guard let cause = Self.cause(of: reason) else { continue }
                families.revocations[.init(bundleID: app, cause: cause), default: 0] += count
            }
            families.cuts[app] = counts.cutMembers.count
            families.cutMembers[app] = counts.cutMembers
        }
    }

    /// What a revocation is counted under; nil for ends that are none.
    private static func cause(of reason: AccessReason) -> String? {
        switch reason {
        case .refunded, .familyRefunded: "refund"
        case .familyLeft: "family_leave"
        case .assignmentEnded: "unknown"
        default: nil
        }
    }

    private func fillApple(_ apple: inout MetricsSnapshot.Apple) {
        for (index, _) in parts.service.scopes {
            apple.rebuildQueueCount += UInt64(parts.service.queuedRefreshCount(of: index))
        }
        guard let side = parts.apple else { return }
        side.metrics.fill(&apple)
        let counts = side.reconciler.counts
        for (rebuild, count) in counts.rebuilds {
            let key = MetricsSnapshot.Apple.Rebuild(
                trigger: MetricsLabels.trigger(of: rebuild.trigger),
                result: rebuild.outcome == .succeeded ? "succeeded" : "failed")
            apple.rebuilds[key, default: 0] += count
        }
        apple.rebuildDuration = HistogramCounts(counts)
        for (direction, count) in counts.changes {
            apple.rebuildChanges[direction.rawValue] = count
        }
        apple.recoveredNotificationCount = counts.recoveredNotifications
        apple.problemCount = counts.problems
        apple.unauthorizedScopes = counts.unauthorizedScopes
        apple.lastSuccessAt = counts.lastSuccessAt
    }
}

extension MetricsSnapshot.Ingest.Outcome {
    fileprivate init(_ disposition: Disposition) {
        self =
            switch disposition {
            case .applied, .storedUnknown: .applied
            case .duplicate: .duplicate
            case .stale, .noEffect: .stale
            }
    }
}

extension HistogramCounts {
    /// Microseconds as seconds.
    init(_ durations: CallCounts.Durations) {
        let bounds = CallCounts.durationBounds
        self.init(bounds: bounds.indices.map { Double(bounds[$0]) / 1_000_000 })
        counts = durations.bucketCounts
        sum = Double(durations.sum) / 1_000_000
    }

    /// Milliseconds as seconds.
    fileprivate init(_ counts: ReconciliationCounts) {
        self.init(bounds: ReconciliationCounts.durationBounds.map { Double($0) / 1_000 })
        self.counts = counts.durationCounts
        sum = Double(counts.durationSum) / 1_000
    }
}

extension MetricsSnapshot.Reloads {
    fileprivate init(_ reloads: DaemonState.Reloads) {
        self.init(
            succeededCount: reloads.succeededCount, failedCount: reloads.failedCount,
            hasLastSucceeded: reloads.hasLastSucceeded)
    }
}

extension MetricsSnapshot.Process {
    fileprivate init(_ facts: ProcessFacts) {
        self.init(
            cpuSeconds: facts.cpuSeconds, residentByteCount: facts.residentByteCount,
            virtualByteCount: facts.virtualByteCount,
            openDescriptorCount: UInt64(max(0, facts.openDescriptorCount)),
            descriptorCountMax: UInt64(max(0, DescriptorLimit.current)),
            startTimeSeconds: facts.startSeconds)
    }
}
