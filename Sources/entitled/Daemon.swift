internal import AppStore
internal import Authorization
internal import Backup
internal import Entitlements
internal import EventLoop
internal import Reconciliation
internal import RocksDBStorage
internal import Service
internal import Storage
internal import Transport

/// Starts the parts in order, serves, and takes them down in the reverse order.
///
/// ```
/// start   store, service, listeners, what asks Apple, warming, first line on stdout
/// stop    not ready and what asks Apple gives up, connections of the protocol are drained,
///         HTTP is closed, the commit thread and metering end, store
/// ```
///
/// `SignalControl` says what signals do meanwhile.
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
        let revival = StoreRevival()
        let store = try openStore(layout, revival)
        let backups = backupDesk(of: store)
        defer { backups?.stop() }
        let eraser = ForgottenEraser()
        let service = try makeService(
            store: store, layout: layout, backups: backups, eraser: eraser)
        defer {
            eraser.stop()
            revival.stop()
        }
        try starting { () throws(UVError) in
            try revival.start(
                store, everyMilliseconds: Int64(StorageOptions().retryIntervalMilliseconds))
            try eraser.start { service.eraseForgotten() }
        }
        let end = try serve(service, store: store, layout: layout, backups: backups)
        let exitCode: ExitCode = end.wasCut ? .failure : .success
        logger.info("stopped", .init("revision", service.revision))
        backups?.stop()
        guard end.hasWarmed else {
            // Everything that was answered is on disk; waiting for the scan would only take time.
            logger.flush()
            SystemCalls.exitAtOnce(exitCode)
        }
        eraser.stop()
        revival.stop()
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
        warnOfKeys()
        var addresses = configuration.tls == nil ? configuration.listenAddresses : []
        if let http = configuration.http, http.tls == nil { addresses.append(http.address) }
        for address in addresses where !address.isLocal {
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

    /// Who may call is said at every start: an open door is easily forgotten.
    private func warnOfKeys() {
        guard let path = configuration.auth.keysPath, let keys = loaded.keys else {
            for address in configuration.listenAddresses where !address.isLocal {
                logger.warn(
                    "no keys file is set: whoever reaches this address may read and change "
                        + "everything", .init("address", address.description))
            }
            return
        }
        logger.info(
            "callers need a key", .init("file", path), .init("keys", keys.records.count))
        if keys.records.isEmpty { logger.warn("the keys file is empty: nobody may call") }
        if let stamp = SystemCalls.stamp(path), stamp.mode & 0o137 != 0 {
            logger.warn(
                "the keys file may be read or changed by others than its owner and group",
                .init("file", path), .init("mode", String(stamp.mode, radix: 8)),
                .init("expected", "640"))
        }
    }

    private func openStore(
        _ layout: DaemonLayout, _ revival: StoreRevival
    ) throws(StartFailure) -> RocksDBStore {
        let logger = logger
        let options = layout.storageOptions(configuration) { notice in
            let field = LogRecord.Field("detail", notice.description)
            switch notice {
            case .writesFailing:
                logger.error("the store takes no writes", field)
                revival.writingStopped()
            case .readsFailing: logger.error("the store is damaged", field)
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
        store: RocksDBStore, layout: DaemonLayout, backups: BackupDesk?, eraser: ForgottenEraser
    ) throws(StartFailure) -> DaemonService {
        let apps = configuration.apps.map { app in
            AppConfiguration(
                bundleID: app.bundleID, appAppleID: app.appAppleID,
                environments: app.environments, catalog: app.catalog)
        }
        let packing: PackingStore<RocksDBStore>
        do throws(StorageError) {
            packing = try PackingStore(store)
        } catch {
            throw StartFailure(error)
        }
        do throws(ServiceStartError) {
            var serviceConfiguration = ServiceConfiguration(
                apps: apps, roots: loaded.roots, v1SharedSecret: loaded.v1SharedSecret,
                isAppStoreConfigured: configuration.appStoreAPI != nil,
                identityConflict: configuration.transfersOnConflict ? .transfer : .refuse,
                cacheByteCountMax: layout.tableByteCountMax, readerCount: layout.readerCount,
                clock: { Timestamp(milliseconds: WallClock.nowMilliseconds) },
                onNotice: { [logger] notice in
                    logger.log(LogRecord(notice))
                    if case .forgotten(_, isErased: false) = notice { eraser.ring() }
                })
            serviceConfiguration.backups = backups?.handler
            serviceConfiguration.monotonicMilliseconds = {
                Int64(clamping: MonotonicClock.nowMilliseconds)
            }
            return try DaemonService(store: packing, configuration: serviceConfiguration)
        } catch {
            throw StartFailure(error)
        }
    }

    /// What makes backups, where a directory for them is configured.
    private func backupDesk(of store: RocksDBStore) -> BackupDesk? {
        configuration.backupDirectory.map { root in
            BackupDesk(
                BackupMaker(store: store, root: root, version: Version.number),
                now: { Timestamp(milliseconds: WallClock.nowMilliseconds) },
                text: { UTCTime.text($0.milliseconds) },
                onNotice: { [logger] in logger.log(LogRecord($0)) })
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
        _ service: DaemonService, store: RocksDBStore, layout: DaemonLayout,
        backups: BackupDesk?
    ) throws(StartFailure) -> End {
        let apple = try AppleSide(loaded, service: service, logger: logger)
        let worlds = KeysReload.worlds(of: service.reader)
        let keys = KeyBoard(KeysReload.ring(loaded.keys, worlds: worlds))
        for app in keys.ring.unknownApps {
            logger.warn("a key is for an app that is not served here", .init("app", app))
        }
        let auth = configuration.auth
        let audit = try auth.auditFile(inDataDirectory: configuration.dataDirectory).map {
            (path) throws(StartFailure) in
            try AuditFile(path: path, byteCountMax: auth.auditByteCountMax, logger: logger)
        }
        defer { audit?.stop() }
        let loop = try starting { () throws(UVError) in try Loop() }
        defer { loop.close() }
        let tls = loaded.tls.map { TLSDoor($0) }
        let server = try starting { () throws(UVError) in
            let ended = try Wakeup(loop: loop) { loop.stop() }
            let signal = ended.signal
            var options = layout.serverOptions(configuration, tls: tls)
            options.keys = keys
            options.audit = audit?.trail
            return try Server(
                options: options, service: service,
                remote: apple?.reconciler.remoteWork, onEnd: { signal.send() })
        }
        let parts = ServingParts(
            state: DaemonState(), store: store, service: service, server: server, apple: apple,
            tls: tls, backups: backups, dataDirectory: configuration.dataDirectory, keys: keys,
            audit: audit?.trail, hasOpenMetrics: auth.hasOpenMetrics)
        var door: HTTPDoor?
        do throws(StartFailure) {
            door = try configuration.http.map { (settings) throws(StartFailure) in
                try HTTPDoor(settings, identity: loaded.httpIdentity, parts)
            }
            return try serve(parts, door, on: loop)
        } catch {
            close(parts, door, isAtOnce: true)
            throw error
        }
    }

    /// Starts what needs the listeners, serves, and takes it all down.
    private func serve(
        _ parts: ServingParts, _ door: HTTPDoor?, on loop: Loop
    ) throws(StartFailure) -> End {
        let control = SignalControl(daemon: self, parts: parts, door: door)
        let watchers = try starting { () throws(UVError) in try control.watch(on: loop) }
        let files = try starting { () throws(UVError) in try control.watchFiles(on: loop) }
        let heartbeat = try starting { () throws(UVError) -> Heartbeat? in
            try self.heartbeat(of: parts, on: loop)
        }
        let warming = try starting { () throws(UVError) in
            try parts.apple?.reconciler.start(door: parts.server.door)
            return try Warming(parts.service, state: parts.state, logger: logger)
        }
        announce(parts.server.addresses, door)
        SystemCalls.letRequestsIn()
        loop.run()
        heartbeat?.stop()
        for watcher in watchers { watcher.close() }
        files.stop()
        close(parts, door, isAtOnce: control.wasCut)
        return End(wasCut: control.wasCut, hasWarmed: warming.joinIfEnded())
    }

    /// Ends what commits by the server's door, then the server. Until here the HTTP listener has
    /// told probes and Apple that this server is going down.
    private func close(_ parts: ServingParts, _ door: HTTPDoor?, isAtOnce: Bool) {
        door?.stop(isAtOnce: isAtOnce)
        // It gave up when the server began to drain.
        parts.apple?.reconciler.stop()
        parts.server.stop()
        parts.server.join()
    }

    private func starting<Value>(
        _ body: () throws(UVError) -> Value
    ) throws(StartFailure) -> Value {
        do throws(UVError) {
            return try body()
        } catch {
            throw StartFailure(error)
        }
    }

    private func heartbeat(of parts: ServingParts, on loop: Loop) throws(UVError) -> Heartbeat? {
        let watchdog = Heartbeat.watchdogMilliseconds(
            environment, processID: SystemCalls.processID)
        guard configuration.http != nil || watchdog != nil else { return nil }
        return try Heartbeat(
            on: loop, parts, watchdogMilliseconds: watchdog, notify: { notify($0) })
    }

    /// The one line on stdout, and the word to the service manager: from here on it answers.
    private func announce(_ addresses: [SocketAddress], _ door: HTTPDoor?) {
        let listeners = addresses.map { "rpc=\($0)" } + (door.map { ["http=\($0.address)"] } ?? [])
        SystemCalls.write("listening \(listeners.joined(separator: " "))\n", to: .output)
        logger.info(
            "listening", .init("rpc", addresses.map(\.description).joined(separator: " ")),
            .init("http", door?.address ?? "none"))
        notify("READY=1")
    }

    /// Tells the service manager, where there is one.
    func notify(_ state: String) {
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return }
        if !SystemCalls.notifyServiceManager(state, at: address) {
            logger.warn("the service manager could not be told", .init("state", state))
        }
    }
}
