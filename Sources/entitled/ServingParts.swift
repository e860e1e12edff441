internal import Authorization
internal import Backup
internal import RocksDBStorage
internal import Service
internal import Storage
internal import Transport

/// The service over the store on disk, in which signed payloads lie packed.
typealias DaemonService = EntitlementService<PackingStore<RocksDBStore>>

/// What runs while the server serves, for those who ask about it or end it.
struct ServingParts: Sendable {
    let state: DaemonState
    let store: RocksDBStore
    let service: DaemonService
    let server: Server
    /// `nil`: the App Store Server API is not configured.
    let apple: AppleSide?
    /// What TLS connections begin with; `nil`: plain text.
    let tls: TLSDoor?
    /// `nil`: no backups are made.
    let backups: BackupDesk?
    /// Where the facts are stored.
    let dataDirectory: String
    /// Who may call.
    var keys = KeyBoard()
    /// Where calls are written down; `nil`: nowhere.
    var audit: AuditTrail?
    /// Whether /metrics asks for no key.
    var hasOpenMetrics = true
}
