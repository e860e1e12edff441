internal import AppStoreServerAPI
internal import Authorization
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
    /// Nil: there is no keys file.
    private let keys: KeysReload?
    /// Nil: plain text.
    private let tls: TLSReload?
    /// Nil: no HTTP listener, or in plain text.
    private let http: HTTPReload?
    private var files: FileWatch?
    /// Whether a second signal cut the drain short.
    private(set) var wasCut = false

    private var logger: Logger { daemon.logger }
    private var server: Server { parts.server }

    init(daemon: Daemon, parts: ServingParts, door: HTTPDoor?) {
        self.daemon = daemon
        self.parts = parts
        catalogs = CatalogReload.catalogs(of: daemon.loaded.configuration)
        let start = daemon.loaded
        let readFile: NamedFile.Reading = { (path, byteCountMax) throws(FileReadError) in
            try SystemCalls.readFile(path, byteCountMax: byteCountMax)
        }
        tls = start.configuration.tls.flatMap { settings in
            parts.tls.map { TLSReload(settings, door: $0, readFile: readFile) }
        }
        http = door.flatMap { door in
            guard let files = start.configuration.http?.tls, let identity = start.httpIdentity
            else { return nil }
            return HTTPReload(files, showing: identity, door: door, readFile: readFile)
        }
        keys = start.configuration.auth.keysPath.map { path in
            KeysReload(
                path: path, start: start.keys ?? KeysFile(), board: parts.keys,
                worlds: KeysReload.worlds(of: parts.service.reader), readFile: readFile)
        }
    }

    /// Watches the files that are taken up without a restart: a new one of them is one more entry
    /// of this list.
    func watchFiles(
        on loop: Loop, everyMilliseconds interval: UInt64 = FileWatch.intervalMilliseconds
    ) throws(UVError) -> FileWatch {
        let watch = try FileWatch(on: loop, watchedFiles, everyMilliseconds: interval)
        files = watch
        return watch
    }

    /// The files that are taken up without a restart, and what is done with each.
    private var watchedFiles: [FileWatch.Watched] {
        var watched: [FileWatch.Watched] = []
        if let keys {
            watched.append(
                FileWatch.Watched(path: keys.path) { [unowned self] in
                    if let hasSucceeded = reloadKeys() {
                        parts.state.reloaded(successfully: hasSucceeded)
                    }
                })
        }
        for path in tls?.paths ?? [] {
            watched.append(
                FileWatch.Watched(path: path) { [unowned self] in
                    reloadCertificates { () throws(ConfigurationFailure) in try tls?.run() }
                })
        }
        for path in http?.paths ?? [] {
            watched.append(
                FileWatch.Watched(path: path) { [unowned self] in
                    reloadCertificates { () throws(ConfigurationFailure) in try http?.run() }
                })
        }
        return watched
    }

    /// Reads the files of one listener's TLS again.
    private func reloadCertificates(_ read: () throws(ConfigurationFailure) -> Void) {
        do throws(ConfigurationFailure) {
            try read()
            parts.state.reloaded(successfully: true)
            logger.info("certificates reloaded")
        } catch {
            parts.state.reloaded(successfully: false)
            for problem in error.problems {
                logger.error(
                    "certificates not reloaded: the ones before still apply",
                    .init("error", problem.message))
            }
        }
    }

    /// Reads the keys file again.
    ///
    /// - Returns: whether it was taken; nil where nothing has changed, or there is none.
    private func reloadKeys() -> Bool? {
        guard let keys else { return nil }
        switch keys.run() {
        case .unchanged: return nil
        case .replaced:
            let ring = parts.keys.ring
            logger.info(
                "keys reloaded", .init("file", keys.path), .init("keys", ring.records.count))
            for app in ring.unknownApps {
                logger.warn("a key is for an app that is not served here", .init("app", app))
            }
            return true
        case .refused(let message):
            logger.error("keys not reloaded: the ones before still apply", .init("error", message))
            return false
        }
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
    /// Apple, certificates and the level of the log apply at once; the rest needs a restart and is
    /// named. One that is wrong changes nothing.
    private func reload() {
        // First and by themselves: a revoked key ends although the rest may be wrong.
        files?.noteAll()
        _ = reloadKeys()
        do throws(ConfigurationFailure) {
            let new = try daemon.reload()
            // First: it is the one that may still turn out to be wrong.
            if let identity = new.httpIdentity, let files = new.configuration.http?.tls {
                try http?.show(identity, of: files)
            }
            let reload = CatalogReload(of: new, start: daemon.loaded, current: catalogs)
            logger.level = new.configuration.logLevel
            if reload.hasChanged {
                parts.service.reload(catalogs: reload.catalogs)
                catalogs = reload.catalogs
            }
            // Another key may stand in a file of the same name.
            if let key = new.appStoreKey { parts.apple?.client.use(key) }
            // The files of the certificate may have changed, and who may show one.
            if let context = new.tls, let settings = new.configuration.tls, let tls {
                parts.tls?.replace(with: context)
                tls.settings = settings
            }
            files?.replace(with: watchedFiles)
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
            .init("tls_handshakes", counts.handshakes),
            .init("failed_tls_handshakes", counts.failedHandshakes),
            .init("overloaded_calls", counts.overloadedCalls),
            .init("unmetered_checks", counts.unmeteredChecks),
            .init("expired_calls", counts.expiredCalls),
            .init("notifications", notifications), .init("refusals", refusals))
    }
}
