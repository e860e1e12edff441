package import AppStore
package import Entitlements
package import Storage

/// One app as the operator configured it.
package struct AppConfiguration: Sendable {
    /// The app's bundle identifier.
    package var bundleID: String
    /// The app's id in the App Store; required for Production.
    package var appAppleID: Int64?
    /// The worlds that are accepted.
    package var environments: Set<AppEnvironment>
    /// What is said of its products.
    package var catalog: Catalog

    /// An app.
    package init(
        bundleID: String, appAppleID: Int64?, environments: Set<AppEnvironment>,
        catalog: Catalog = Catalog()
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
        self.catalog = catalog
    }
}

/// All that the service is told once, when it starts.
package struct ServiceConfiguration: Sendable {
    /// At least one app.
    package var apps: [AppConfiguration]
    /// The pinned roots; at least one.
    package var roots: [TrustedRoot]
    /// The secret of V1 notifications; nil: V1 bodies are refused.
    package var v1SharedSecret: [UInt8]?
    /// Whether there is somebody who fetches from Apple what is queued; else nothing is queued.
    package var isAppStoreConfigured: Bool
    /// What becomes of an upload of what is another named customer's.
    package var identityConflict: IdentityConflictPolicy
    /// How much memory snapshots may take, in bytes.
    package var cacheByteCountMax: Int
    /// How many threads read: one `ReaderSlot` each.
    package var readerCount: Int
    /// From when on a history counts as long; smaller ones are for tests.
    package var longHistoryLimits = LongHistoryLimits()
    /// What makes backups; nil: they are refused.
    package var backups: BackupHandler?
    /// The wall clock.
    package var clock: @Sendable () -> Timestamp
    /// Milliseconds that only go forward, from any start; nil: those of the wall clock.
    package var monotonicMilliseconds: (@Sendable () -> Int64)?
    /// Told what an operator must see; called by worker threads and the commit thread.
    package var onNotice: @Sendable (ServiceNotice) -> Void

    /// A configuration.
    package init(
        apps: [AppConfiguration], roots: [TrustedRoot], v1SharedSecret: [UInt8]? = nil,
        isAppStoreConfigured: Bool = false, identityConflict: IdentityConflictPolicy = .refuse,
        cacheByteCountMax: Int = 1 << 30, readerCount: Int = 8,
        clock: @escaping @Sendable () -> Timestamp,
        onNotice: @escaping @Sendable (ServiceNotice) -> Void = { _ in }
    ) {
        self.apps = apps
        self.roots = roots
        self.v1SharedSecret = v1SharedSecret
        self.isAppStoreConfigured = isAppStoreConfigured
        self.identityConflict = identityConflict
        self.cacheByteCountMax = cacheByteCountMax
        self.readerCount = readerCount
        self.clock = clock
        self.onNotice = onNotice
    }
}

/// What happens when one Apple Account's purchases are handed in for a second person.
package enum IdentityConflictPolicy: String, Hashable, Sendable {
    /// IDENTITY_CONFLICT, unless the call says to move them.
    case refuse
    /// They move to whoever handed them in last, as if every call said so.
    case transfer
}

/// Why the service cannot start.
package enum ServiceStartError: Error, Sendable {
    /// The store failed or holds damaged records.
    case storage(StorageError)
    /// The configured apps or roots cannot be used.
    case configuration(String)
}
