internal import RocksDBStorage
internal import Service
internal import Transport

/// What runs while the server serves, for those who ask about it or end it.
struct ServingParts: Sendable {
    let state: DaemonState
    let store: RocksDBStore
    let service: EntitlementService<RocksDBStore>
    let server: Server
    /// `nil`: the App Store Server API is not configured.
    let apple: AppleSide?
    /// Where the facts are stored.
    let dataDirectory: String
}
