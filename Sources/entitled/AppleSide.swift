internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import HTTP
internal import Reconciliation
internal import RocksDBStorage
internal import Service
internal import Synchronization

/// Everything that asks Apple: the network, the client of the App Store Server API, and the threads
/// that keep what is stored true against it.
struct AppleSide: Sendable {
    let client: AppStoreServerClient
    let reconciler: Reconciler
    let metrics = AppleMetrics()

    /// Makes them; nothing is asked before the reconciler starts. Nil without credentials.
    ///
    /// - Throws: libcurl cannot be used, or not with these authorities.
    init?(
        _ loaded: LoadedConfiguration, service: DaemonService, logger: Logger
    ) throws(StartFailure) {
        guard let settings = loaded.configuration.appStoreAPI, let key = loaded.appStoreKey else {
            return nil
        }
        let network: HTTPClient
        do throws(HTTPError) {
            network = try HTTPClient(
                options: HTTPClientOptions(
                    userAgent: "entitled/\(Version.number)",
                    extraRoots: loaded.appStoreAuthorities ?? []))
        } catch {
            throw StartFailure(.configuration, "Apple cannot be asked: \(error.description)")
        }
        let waiting = AppleWaiting()
        let clock: @Sendable () -> Timestamp = {
            Timestamp(milliseconds: WallClock.nowMilliseconds)
        }
        client = AppStoreServerClient(
            key: key,
            apps: loaded.configuration.apps.map {
                TrustedApp(
                    bundleID: $0.bundleID, appAppleID: $0.appAppleID, environments: $0.environments)
            },
            verifier: service.signedDataVerifier,
            configuration: settings.clientConfiguration,
            surroundings: AppStoreServerSurroundings(
                client: network, now: clock, sleep: { waiting.sleep(milliseconds: $0) }),
            onRequest: { [metrics] in metrics.count($0) })
        reconciler = Reconciler(
            service: service, client: client,
            giveUp: {
                waiting.giveUp()
                network.cancelAll()
            },
            configuration: settings.reconciliation, clock: clock,
            onNotice: { logger.log(LogRecord($0)) })
    }
}

extension AppStoreAPISettings {
    /// What the client is told.
    var clientConfiguration: AppStoreServerConfiguration {
        AppStoreServerConfiguration(
            productionURL: baseURL.text, sandboxURL: sandboxBaseURL.text,
            historyRatePerSecond: Double(historyRate))
    }

    /// What the threads in the background are told.
    var reconciliation: ReconciliationConfiguration {
        var configuration = ReconciliationConfiguration()
        configuration.fetchThreadCount = threadCount
        configuration.backfillInterval = backfillMilliseconds
        configuration.sweepInterval = sweepMilliseconds
        return configuration
    }
}

/// The pauses of those who ask Apple: one word ends them all, for the end of the process.
final class AppleWaiting: Sendable {
    /// How late a pause may notice that it is to end.
    private static let sliceMilliseconds: Int64 = 50

    private let hasGivenUp = Atomic(false)

    /// Ends every pause, those to come as well. Any thread, more than once.
    func giveUp() { hasGivenUp.store(true, ordering: .releasing) }

    /// Blocks for so many milliseconds.
    ///
    /// - Returns: false when it was cut short.
    func sleep(milliseconds: Int64) -> Bool {
        let bell = Doorbell()
        var rest = milliseconds
        while !hasGivenUp.load(ordering: .acquiring) {
            guard rest > 0 else { return true }
            bell.wait(milliseconds: min(rest, Self.sliceMilliseconds))
            rest -= Self.sliceMilliseconds
        }
        return false
    }
}
