internal import AppStore
internal import Entitlements
internal import EventLoop
internal import RocksDBStorage
internal import Service
internal import Storage
internal import Synchronization
internal import Transport

/// Starts the parts in order, serves, and takes them down in the reverse order.
///
/// store, service, listeners, first line on stdout, warming behind it; then signals:
///
/// | state | signal | next state |
/// | --- | --- | --- |
/// | serving | SIGTERM, SIGINT | draining: nobody new, what is in flight is answered |
/// | draining | SIGTERM, SIGINT | stopping: connections are closed as they are |
/// | draining | the grace is over, or the last connection is closed | ended |
/// | any | SIGHUP | the same: the configuration is read again |
/// | any | SIGUSR1 | the same: statistics are logged |
struct Daemon {
    let loaded: LoadedConfiguration
    let logger: Logger
    let environment: [String: String]
    /// Reads the configuration again, for SIGHUP.
    let reload: () throws(ConfigurationFailure) -> LoadedConfiguration

    private var configuration: Configuration { loaded.configuration }

    /// Serves until it is told to stop.
    func run() -> ExitCode {
        defer { logger.flush() }
        do throws(StartFailure) {
            return try serve()
        } catch {
            logger.error("cannot start", .init("error", error.message))
            return error.exitCode
        }
    }

    private func serve() throws(StartFailure) -> ExitCode {
        let layout = DaemonLayout(configuration, resources: SystemCalls.resources)
        logger.info(
            "starting", .init("version", Version.number),
            .init("data", configuration.dataDirectory), .init("threads", layout.loopCount),
            .init("workers", layout.workerCount),
            .init("cache", "\(layout.tableByteCountMax >> 20)MiB"))
        warnOfRisks(layout)
        let store = try openStore(layout)
        let service = try makeService(store: store, layout: layout)
        let end = try serve(service, layout: layout)
        let exitCode: ExitCode = end.wasCut ? .failure : .success
        logger.info("stopped", .init("revision", service.revision))
        guard end.hasWarmed else {
            // Everything that was answered is on disk; waiting for the scan would only take time.
            logger.flush()
            SystemCalls.exitAtOnce(exitCode)
        }
        store.close()
        return exitCode
    }

    private func warnOfRisks(_ layout: DaemonLayout) {
        if !configuration.syncsEveryCommit {
            logger.warn("dataSync is interval: a power cut may take answered writes")
        }
        for root in loaded.roots where !root.isApple {
            logger.warn(
                "a test root is trusted", .init("fingerprint", root.fingerprint),
                .init("subject", root.subject))
        }
        for address in configuration.listenAddresses where !address.isLocal {
            logger.warn(
                "plain text on an address that others can reach",
                .init("address", address.description))
        }
        let descriptorCount = DescriptorLimit.raise(to: layout.descriptorCount)
        if descriptorCount < layout.descriptorCount {
            logger.warn(
                "the limit of open files is below what the connections may need",
                .init("limit", descriptorCount), .init("wanted", layout.descriptorCount))
        }
    }

    private func openStore(_ layout: DaemonLayout) throws(StartFailure) -> RocksDBStore {
        let logger = logger
        let options = layout.storageOptions(configuration) { notice in
            let field = LogRecord.Field("detail", notice.description)
            switch notice {
            case .writesFailing: logger.error("the store takes no writes", field)
            case .writesResumed: logger.warn("the store takes writes again")
            case .unfinishedRecord, .failedWriteUndone: logger.warn("the store recovered", field)
            }
        }
        do throws(StorageError) {
            return try RocksDBStore(directory: configuration.dataDirectory, options: options)
        } catch {
            throw StartFailure(error)
        }
    }

    private func makeService(
        store: RocksDBStore, layout: DaemonLayout
    ) throws(StartFailure) -> EntitlementService<RocksDBStore> {
        let apps = configuration.apps.map { app in
            AppConfiguration(
                bundleID: app.bundleID, appAppleID: app.appAppleID,
                environments: app.environments, catalog: app.catalog)
        }
        do throws(ServiceStartError) {
            return try EntitlementService(
                store: store,
                configuration: ServiceConfiguration(
                    apps: apps, roots: loaded.roots, v1SharedSecret: loaded.v1SharedSecret,
                    cacheByteCountMax: layout.tableByteCountMax, readerCount: layout.readerCount,
                    clock: { Timestamp(milliseconds: WallClock.nowMilliseconds) },
                    onNotice: { [logger] in logger.log(LogRecord($0)) }))
        } catch {
            throw StartFailure(error)
        }
    }

    /// How serving ended.
    private struct End {
        /// A second signal cut the drain short.
        let wasCut: Bool
        /// No thread reads the store any more.
        let hasWarmed: Bool
    }

    /// Serves until a signal, and drains.
    private func serve(
        _ service: EntitlementService<RocksDBStore>, layout: DaemonLayout
    ) throws(StartFailure) -> End {
        do throws(UVError) {
            let loop = try Loop()
            defer { loop.close() }
            let ended = try Wakeup(loop: loop) { loop.stop() }
            let signal = ended.signal
            let server = try Server(
                options: layout.serverOptions(configuration), service: service,
                onEnd: { signal.send() })
            let control = SignalControl(daemon: self, server: server, service: service)
            let watchers = try control.watch(on: loop)
            let warming = try Warming(service, logger: logger)
            announce(server.addresses)
            loop.run()
            server.join()
            for watcher in watchers { watcher.close() }
            return End(wasCut: control.wasCut, hasWarmed: warming.joinIfEnded())
        } catch {
            throw StartFailure(error)
        }
    }

    /// The one line on stdout, and the word to the service manager: from here on it answers.
    private func announce(_ addresses: [SocketAddress]) {
        let listeners = addresses.map { "rpc=\($0)" }.joined(separator: " ")
        SystemCalls.write("listening \(listeners)\n", to: .output)
        logger.info("listening", .init("rpc", addresses.map(\.description).joined(separator: " ")))
        notify("READY=1")
    }

    /// Tells the service manager, where there is one.
    func notify(_ state: String) {
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return }
        if !SystemCalls.notifyServiceManager(state, at: address) {
            logger.warn("the service manager could not be told", .init("state", state))
        }
    }

    /// Reads the configuration again: the level of the log changes at once, the rest needs a
    /// restart and is named.
    func reloadConfiguration() {
        do throws(ConfigurationFailure) {
            let new = try reload()
            logger.level = new.configuration.logLevel
            let changed = new.resolved.keysThatDiffer(from: loaded.resolved)
                .filter { $0 != SettingKey.logLevel.rawValue }
            logger.info("configuration reloaded", .init("log_level", logger.level.name))
            if !changed.isEmpty {
                logger.warn(
                    "settings changed that need a restart",
                    .init("settings", changed.joined(separator: " ")))
            }
        } catch {
            for problem in error.problems {
                logger.error("configuration not reloaded", .init("error", problem.message))
            }
        }
    }
}

/// What signals do while the server runs. Belongs to the main thread's loop.
private final class SignalControl {
    private let daemon: Daemon
    private let server: Server
    private let service: EntitlementService<RocksDBStore>
    private var isDraining = false
    /// Whether a second signal cut the drain short.
    private(set) var wasCut = false

    init(
        daemon: Daemon, server: Server,
        service: EntitlementService<RocksDBStore>
    ) {
        self.daemon = daemon
        self.server = server
        self.service = service
    }

    func watch(on loop: Loop) throws(UVError) -> [SignalWatcher] {
        [
            try SignalWatcher(loop: loop, signal: .terminate) { self.stop("SIGTERM") },
            try SignalWatcher(loop: loop, signal: .interrupt) { self.stop("SIGINT") },
            try SignalWatcher(loop: loop, signal: .hangup) { self.daemon.reloadConfiguration() },
            try SignalWatcher(loop: loop, signal: .user1) { self.logStatistics() },
        ]
    }

    private func stop(_ signal: String) {
        let grace = daemon.loaded.configuration.shutdownGraceMilliseconds
        if isDraining {
            wasCut = true
            daemon.logger.warn("stopping at once", .init("signal", signal))
            server.stop()
            return
        }
        isDraining = true
        daemon.logger.info(
            "draining", .init("signal", signal), .init("grace", Quantity.durationText(grace)),
            .init("connections", server.counts.connections))
        daemon.notify("STOPPING=1")
        server.drain(graceMilliseconds: UInt64(grace))
    }

    private func logStatistics() {
        let info = service.reader.serverInfo()
        let counts = server.counts
        let notifications = service.counters.dispositionCounts.reduce(0, +)
        let refusals = service.counters.refusalCounts.values.reduce(0, +)
        daemon.logger.info(
            "statistics", .init("revision", info.revision),
            .init("uptime_ms", info.uptimeMilliseconds), .init("customers", info.customerCount),
            .init("transactions", info.transactionCount), .init("connections", counts.connections),
            .init("accepted", counts.acceptedConnections),
            .init("refused_connections", counts.refusedConnections),
            .init("failed_accepts", counts.failedAccepts),
            .init("overloaded_calls", counts.overloadedCalls),
            .init("expired_calls", counts.expiredCalls),
            .init("notifications", notifications), .init("refusals", refusals))
    }
}

/// Fills the table of verdicts behind the listeners; answers are right before it has ended, and
/// come from memory after it.
private final class Warming: Sendable {
    private let thread: Thread
    private let hasEnded: Flag

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    init(_ service: EntitlementService<RocksDBStore>, logger: Logger) throws(UVError) {
        let flag = Flag()
        hasEnded = flag
        thread = try Thread(name: "warm", priority: .low) {
            defer { flag.value.store(true, ordering: .releasing) }
            let start = MonotonicClock.nowMilliseconds
            do throws(StorageError) {
                try service.warm()
                logger.info(
                    "warm", .init("customers", service.reader.serverInfo().customerCount),
                    .init("duration_ms", MonotonicClock.nowMilliseconds - start))
            } catch {
                logger.error("warming failed; checks read the store", .init("error", "\(error)"))
            }
        }
    }

    /// Whether the thread had ended and is joined. One that still reads is left to the end of the
    /// process: everything answered is on disk.
    func joinIfEnded() -> Bool {
        guard hasEnded.value.load(ordering: .acquiring) else { return false }
        thread.join()
        return true
    }
}
