package import Entitlements
import SnapshotTable
import Storage
import Synchronization

/// What the operator says of all products, replaceable while the server runs.
///
/// Snapshots hold no verdicts, so nothing is rewritten: from the next check on the answers are
/// those of the new catalogs. The commit thread and reads of the store take what is there when they
/// begin.
final class Catalogs: Sendable {
    /// What checks read, without a lock.
    let compiled: CatalogCopies
    /// In the order of `ScopeIndex`.
    private let current: Mutex<[Catalog]>
    private let worlds: [World]

    init(of worlds: [World], _ apps: [AppConfiguration], readerCount: Int) {
        self.worlds = worlds
        let catalogs = worlds.map { world in
            apps.first { isSame($0.bundleID, world.scope.bundleID) }?.catalog ?? Catalog()
        }
        current = Mutex(catalogs)
        compiled = CatalogCopies(CompiledCatalog(catalogs), readerCount: readerCount)
    }

    /// The catalogs now, by the store's number of the world.
    var byNumber: [ScopeNumber: Catalog] {
        let catalogs = current.withLock { $0 }
        return Dictionary(zip(worlds.map(\.number), catalogs)) { first, _ in first }
    }

    /// The catalog of a world now.
    func catalog(of scope: Scope) -> Catalog {
        guard let index = worlds.firstIndex(where: { $0.scope == scope }) else { return Catalog() }
        return current.withLock { $0[index] }
    }

    /// Replaces the catalogs of these apps, those of others stay.
    func replace(_ catalogs: [ExactName: Catalog]) {
        current.withLock { current in
            for (index, world) in worlds.enumerated() {
                if let catalog = catalogs[world.scope.bundleID] { current[index] = catalog }
            }
            compiled.replace(with: CompiledCatalog(current))
        }
    }
}

extension EntitlementService {
    /// The catalogs now.
    var catalogs: [ScopeNumber: Catalog] { catalogTable.byNumber }

    /// Replaces the catalogs of the apps that are named, by bundleId, in all of their environments.
    ///
    /// Any thread. Every check that begins after this has returned is answered by the new ones;
    /// neither facts nor snapshots are rewritten. What names no configured app is ignored.
    package func reload(catalogs: [ExactName: Catalog]) { catalogTable.replace(catalogs) }
}
