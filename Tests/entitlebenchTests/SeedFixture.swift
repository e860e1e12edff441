import AppStore
import Entitlements
import FoundationEssentials
import Service
import Storage
import TestSupport

@testable import entitlebench

/// A directory of its own under the system's temporary one, removed when it goes out of use.
final class SeedDirectory: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appending(path: "seed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside it.
    func appending(_ name: String) -> String { path + "/" + name }
}

/// What the tests of populations share: an authority, an app, a clock that stands still.
struct SeedFixture {
    /// 2026-07-01.
    static let now: Int64 = 1_782_864_000_000

    let signer: SeedSigner

    init() throws { signer = SeedSigner(app: SeedApp(), authority: try RehearsalAuthority()) }

    /// A service without Apple's servers on a store.
    func desk<Store: EntitlementWriter & Sendable>(_ store: Store) throws -> ServiceDesk<Store> {
        let app = AppConfiguration(
            bundleID: signer.app.bundleID, appAppleID: signer.app.appAppleID,
            environments: [.production])
        let configuration = ServiceConfiguration(
            apps: [app], roots: [try TrustedRoot(file: signer.authority.rootPEM)],
            clock: { Timestamp(milliseconds: Self.now) })
        return ServiceDesk(try EntitlementService(store: store, configuration: configuration))
    }

    /// The call that brings in all that a customer bought.
    func upload(of index: Int, in plan: SeedPlan) throws -> WriteCall {
        var upload = TransactionUpload(customerID: plan.name(of: index))
        upload.signedTransactions = try plan.transactions(of: index).map { try signer.sign($0) }
        upload.signedRenewals = try plan.renewal(of: index).map { [try signer.sign($0)] } ?? []
        return .transactions(upload)
    }
}

extension EntitlementReader {
    /// All records of a keyspace.
    func everything(in keyspace: Keyspace) throws -> [[UInt8]: [UInt8]] {
        var records: [[UInt8]: [UInt8]] = [:]
        try scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
            records[key] = value
            return true
        }
        return records
    }
}
