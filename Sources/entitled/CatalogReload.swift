internal import AppStore
internal import Entitlements
internal import HTTP
internal import RocksDBStorage
internal import Service

/// What of a configuration that was read again applies at once, and what waits for a restart.
struct CatalogReload: Equatable {
    /// The catalogs of the apps that are served, by bundleId.
    let catalogs: [ExactName: Catalog]
    /// Whether any of them differs from what was there before.
    let hasChanged: Bool
    /// The settings that differ from those of the start and need a restart; sorted.
    let keysThatWait: [String]

    /// What to do about `new`.
    ///
    /// - Parameters:
    ///   - new: As read now.
    ///   - start: What the server started with.
    ///   - current: The catalogs that apply now.
    init(
        of new: LoadedConfiguration, start: LoadedConfiguration, current: [ExactName: Catalog]
    ) {
        let served = Set(start.configuration.apps.map { ExactName($0.bundleID) })
        var catalogs = current
        for app in new.configuration.apps where served.contains(ExactName(app.bundleID)) {
            catalogs[ExactName(app.bundleID)] = app.catalog
        }
        self.catalogs = catalogs
        hasChanged = catalogs != current
        var applied: Set<SettingKey> = [.logLevel, .familyCut]
        if new.appStoreKey != nil, start.appStoreKey != nil {
            applied.formUnion([.apiIssuerId, .apiKeyId, .apiKeyFile])
        }
        if new.tls != nil, start.tls != nil {
            applied.formUnion([.tlsCert, .tlsKey, .tlsClientCa, .tlsMinVersion])
        }
        if new.httpIdentity != nil, start.httpIdentity != nil {
            applied.formUnion([.httpTlsCert, .httpTlsKey])
        }
        let settings = new.resolved.keysThatDiffer(from: start.resolved, butFor: applied)
        keysThatWait = Set(settings).union(new.filesThatDiffer(from: start)).sorted()
    }

    /// The catalogs that a server starts with.
    static func catalogs(of configuration: Configuration) -> [ExactName: Catalog] {
        var catalogs: [ExactName: Catalog] = [:]
        for app in configuration.apps { catalogs[ExactName(app.bundleID)] = app.catalog }
        return catalogs
    }
}

extension LoadedConfiguration {
    /// The settings that name a file whose content differs from what was in it at the start, and
    /// is not taken up before a restart: a root that was replaced in its place must not seem to be
    /// in use.
    func filesThatDiffer(from start: LoadedConfiguration) -> [String] {
        let checks: [(SettingKey, Bool)] = [
            (.roots, roots.map(\.fingerprint) == start.roots.map(\.fingerprint)),
            (.v1SharedSecretFile, v1SharedSecret == start.v1SharedSecret),
            (.apiCaFile, appStoreAuthorities == start.appStoreAuthorities),
        ]
        return checks.filter { !$0.1 }.map(\.0.rawValue)
    }
}

extension ResolvedSettings {
    /// The settings that differ from `start`, but for those that apply at once: `applied`, and what
    /// is said of products. `apps` when an app was added or removed, or serves other environments.
    /// Sorted.
    fileprivate func keysThatDiffer(
        from start: ResolvedSettings, butFor applied: Set<SettingKey>
    ) -> [String] {
        var now = self
        var then = start
        for key in applied {
            now.settings[key] = nil
            then.settings[key] = nil
        }
        for index in now.apps.indices { now.apps[index].products = [] }
        for index in then.apps.indices { then.apps[index].products = [] }
        return now.keysThatDiffer(from: then)
    }
}
