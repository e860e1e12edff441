internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import Reconciliation
internal import RocksDBStorage
internal import Service
internal import Transport

/// What signals do while the server runs. Belongs to the main thread's loop.
///
/// | state | signal | next state |
/// | --- | --- | --- |
/// | serving | SIGTERM, SIGINT | draining: not ready, nobody new, what is in flight is answered |
/// | draining | SIGTERM, SIGINT | stopping: connections are closed as they are |
/// | any | SIGHUP | the same: the configuration is read again |
/// | any | SIGUSR1 | the same: statistics are logged |
final class SignalControl {
    private let daemon: Daemon
    private let parts: ServingParts
    private var catalogs: [ExactName: Catalog]
    /// Whether a second signal cut the drain short.
    private(set) var wasCut = false

    private var logger: Logger { daemon.logger }
    private var server: Server { parts.server }

    init(daemon: Daemon, parts: ServingParts) {
        self.daemon = daemon
        self.parts = parts
        catalogs = CatalogReload.catalogs(of: daemon.loaded.configuration)
    }

    func watch(on loop: Loop) throws(UVError) -> [SignalWatcher] {
        [
            try SignalWatcher(loop: loop, signal: .terminate) { self.stop("SIGTERM") },
            try SignalWatcher(loop: loop, signal: .interrupt) { self.stop("SIGINT") },
            try SignalWatcher(loop: loop, signal: .hangup) { self.reload() },
            try SignalWatcher(loop: loop, signal: .user1) { self.logStatistics() },
        ]
    }

    private func stop(_ signal: String) {
        let grace = daemon.loaded.configuration.shutdownGraceMilliseconds
        if parts.state.isDraining {
            wasCut = true
            logger.warn("stopping at once", .init("signal", signal))
            server.stop()
            return
        }
        parts.state.beginDraining()
        logger.info(
            "draining", .init("signal", signal), .init("grace", Quantity.durationText(grace)),
            .init("connections", server.counts.connections))
        daemon.notify("STOPPING=1")
        server.drain(graceMilliseconds: UInt64(grace))
    }

    /// Reads the configuration again. What is said of products, how families are cut, the key for
    /// Apple and the level of the log apply at once; the rest needs a restart and is named. One
    /// that is wrong changes nothing.
    private func reload() {
        do throws(ConfigurationFailure) {
            let new = try daemon.reload()
            let reload = CatalogReload(of: new, start: daemon.loaded, current: catalogs)
            logger.level = new.configuration.logLevel
            if reload.hasChanged {
                parts.service.reload(catalogs: reload.catalogs)
                catalogs = reload.catalogs
            }
            // Another key may stand in a file of the same name.
            if let key = new.appStoreKey { parts.apple?.client.use(key) }
            parts.state.reloaded(successfully: true)
            logger.info(
                "configuration reloaded", .init("log_level", logger.level.name),
                .init("catalog", reload.hasChanged ? "changed" : "unchanged"))
            if !reload.keysThatWait.isEmpty {
                logger.warn(
                    "settings changed that need a restart",
                    .init("settings", reload.keysThatWait.joined(separator: " ")))
            }
        } catch {
            parts.state.reloaded(successfully: false)
            for problem in error.problems {
                logger.error("configuration not reloaded", .init("error", problem.message))
            }
        }
        // Whoever sends the signal may have put right what kept Apple from answering.
        parts.apple?.reconciler.resume()
    }

    private func logStatistics() {
        let service = parts.service
        let info = service.reader.serverInfo()
        let counts = server.counts
        let notifications = service.counters.dispositionCounts.reduce(0, +)
        let refusals = service.counters.refusalCounts.values.reduce(0, +)
        logger.info(
            "statistics", .init("revision", info.revision),
            .init("uptime_ms", info.uptimeMilliseconds), .init("customers", info.customerCount),
            .init("transactions", info.transactionCount), .init("connections", counts.connections),
            .init("accepted", counts.acceptedConnections),
            .init("refused_connections", counts.refusedConnections),
            .init("failed_accepts", counts.failedAccepts),
            .init("overloaded_calls", counts.overloadedCalls),
            .init("unmetered_checks", counts.unmeteredChecks),
            .init("expired_calls", counts.expiredCalls),
            .init("notifications", notifications), .init("refusals", refusals))
    }
}
