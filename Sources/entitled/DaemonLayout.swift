internal import EventLoop
internal import RocksDBStorage
internal import Service
internal import Session
internal import Transport

/// How the configured server is laid out on this machine: threads, memory, descriptors.
struct DaemonLayout: Equatable {
    let loopCount: Int
    let workerCount: Int
    /// Threads that read verdicts: the loops, the workers, and one to spare.
    var readerCount: Int { loopCount + workerCount + 1 }
    /// For the verdicts in memory.
    let tableByteCountMax: Int
    /// For the store's own cache of records.
    let storeCacheByteCount: Int
    /// Descriptors that the HTTP listener's connections may need.
    let httpDescriptorCount: Int
    /// Descriptors that every connection, listener and file of the store may need.
    let descriptorCount: Int

    /// Files of the store, listeners and the process's own.
    private static let otherDescriptorCount = 1_024

    init(_ configuration: Configuration, resources: MachineResources) {
        let processorCount = resources.processorCount
        loopCount = configuration.threadCount > 0 ? configuration.threadCount : processorCount
        workerCount = configuration.workerCount > 0 ? configuration.workerCount : processorCount
        let byteCount =
            switch configuration.cacheSize {
            case .bytes(let bytes): bytes
            case .percent(let share): resources.memoryByteCount / 100 * share
            }
        // Checks read the table only; the store's cache serves ingests, rebuilds and GetCustomer.
        storeCacheByteCount = Int(max(byteCount / 4, 1 << 20))
        tableByteCountMax = Int(max(byteCount - byteCount / 4, 1 << 20))
        // Those that had to go for newer ones are open until the HTTP listener has noticed.
        httpDescriptorCount = 2 * (configuration.http?.connectionCountMax ?? 0)
        descriptorCount =
            configuration.limits.connectionCountMax + httpDescriptorCount
            + Self.otherDescriptorCount
    }

    /// What the transport is told.
    func serverOptions(_ configuration: Configuration, tls: TLSDoor? = nil) -> ServerOptions {
        var options = ServerOptions(
            addresses: configuration.listenAddresses,
            identity: ServerIdentity(version: Version.number, commit: Version.commit))
        options.tls = tls
        options.loopCount = loopCount
        options.workerCount = workerCount
        options.spinMicroseconds = UInt64(configuration.spinMicroseconds)
        options.connectionCountMax = configuration.limits.connectionCountMax
        options.connectionCountMaxPerPeer = configuration.limits.connectionCountMaxPerPeer
        options.bufferedByteCountMax = configuration.limits.bufferedByteCountMax
        options.reservedDescriptorCount = Self.otherDescriptorCount + httpDescriptorCount
        options.limits = sessionLimits(configuration.limits)
        options.metersUse = configuration.meteringMilliseconds != nil
        if let interval = configuration.meteringMilliseconds {
            options.usageFlushMilliseconds = interval
        }
        if let api = configuration.appStoreAPI { options.remoteThreadCount = api.threadCount }
        return options
    }

    /// What every session is told.
    private func sessionLimits(_ configured: Configuration.ClientLimits) -> Limits {
        var limits = Limits()
        limits.frameByteCountMax = configured.frameByteCountMax
        limits.inFlightCountMax = configured.inflightCountMax
        limits.batchCountMax = configured.batchCountMax
        limits.timeoutMillisecondsDefault = configured.defaultDeadlineMilliseconds
        limits.timeoutMillisecondsMax = configured.deadlineMillisecondsMax
        return limits
    }

    /// What the store is told.
    func storageOptions(
        _ configuration: Configuration, onNotice: @escaping @Sendable (StorageNotice) -> Void
    ) -> StorageOptions {
        var options = StorageOptions()
        if !configuration.syncsEveryCommit {
            options.sync = .interval(milliseconds: Self.syncIntervalMilliseconds)
        }
        options.cacheByteCount = storeCacheByteCount
        options.memtableByteCountMax = configuration.memtableByteCountMax
        options.onNotice = onNotice
        return options
    }

    /// With `dataSync: "interval"`: what a power cut may take at most.
    static let syncIntervalMilliseconds: UInt64 = 1_000
}
