import Authorization
import Entitlements
import Service
import Session
import Synchronization
import TestSupport
import Wire

/// A bench whose server knows some keys, and what callers with them ask.
final class GuardedBench {
    static let other = "com.example.other"

    let bench: SessionBench
    let board: KeyBoard
    /// What was written down.
    let written: Written
    private(set) var file = KeysFile()
    private let now: BenchClock

    /// What the audit took.
    final class Written: Sendable {
        private let entries = Mutex<[AuditEntry]>([])

        var all: [AuditEntry] { entries.withLock { $0 } }

        func add(_ entry: AuditEntry) { entries.withLock { $0.append(entry) } }
    }

    init(
        otherApps: [String] = [other], _ change: (inout Limits) -> Void = { _ in }
    ) throws {
        let (board, now, written) = (KeyBoard(), BenchClock(), Written())
        (self.board, self.now, self.written) = (board, now, written)
        let trail = AuditTrail {
            written.add($0)
            return true
        }
        bench = try SessionBench(
            otherApps: otherApps, keys: board, audit: trail, time: now, change)
        hangUp()
    }

    var nowMilliseconds: Int64 {
        get { now.milliseconds }
        set { now.milliseconds = newValue }
    }

    // MARK: Keys

    static func text(_ id: String) -> String {
        let seed = id.utf8.reduce(UInt8(7)) { $0 &* 31 &+ $1 }
        var number = seed
        return KeyText.make { count in
            (0..<count).map { _ in
                number = number &* 167 &+ 13
                return number
            }
        }.text.replacing(/entk_[^_]+_/, with: "entk_\(id)_")
    }

    /// Lets somebody call; the key that he shows.
    @discardableResult
    func add(
        _ id: String, _ roles: Roles, apps: [KeyApp] = [],
        _ change: (inout KeyRecord) -> Void = { _ in }
    ) -> Text {
        let text = Self.text(id)
        var record = KeyRecord(
            id: id, name: "n-\(id)", credential: .key(KeyText.digest(of: text)), roles: roles,
            apps: apps)
        change(&record)
        file.append(record)
        hangUp()
        return Text(text)
    }

    func revoke(_ id: String) {
        _ = file.revoke(id: id)
        hangUp()
    }

    private func hangUp() {
        let worlds = bench.service.reader.serverInfo().scopes.map {
            KeyRing.World(bundleID: $0.bundleID, environment: Int32($0.environment.rawValue))
        }
        board.replace(with: KeyRing(file, worlds: worlds, previous: board.ring))
    }

    // MARK: Calls

    static func scope(_ bundleID: String, _ environment: Int32 = 1) -> Message.Scope {
        Message.Scope(bundleID: Text(bundleID), environment: .init(rawValue: environment))
    }

    /// What a caller asks by each method; nil where nobody can. Exhaustive: a new call is added
    /// here, and so to every test of who may.
    func call(_ method: CallMethod, _ scope: Message.Scope?) throws -> Request.Call? {
        let customer = Message.CustomerRef.customerID("ann")
        switch method {
        case .checkAccess: return .checkAccess(check(scope))
        case .checkAccessBatch: return .checkAccessBatch([check(scope), check(scope)])
        case .ingestNotification:
            return .ingestNotification(.init(payload: try notification(scope)))
        case .ingestTransactions:
            var upload = Message.IngestTransactionsRequest()
            upload.customerID = "ann"
            upload.signedTransactions = [
                Text(
                    try fixtures(scope).transaction(
                        "9000", product: "p", purchased: SessionBench.now - 1_000))
            ]
            return .ingestTransactions(upload)
        case .rebuildCustomer:
            var rebuild = Message.RebuildCustomerRequest()
            (rebuild.customer, rebuild.scope) = (customer, scope)
            return .rebuildCustomer(rebuild)
        case .linkCustomer:
            var link = Message.LinkCustomerRequest()
            (link.customerID, link.householdID, link.scope) = ("ann", "h", scope)
            return .linkCustomer(link)
        case .getCustomer:
            var get = Message.GetCustomerRequest()
            (get.customer, get.scope) = (customer, scope)
            return .getCustomer(get)
        case .getServerInfo: return .getServerInfo
        case .other: return nil
        case .createBackup:
            var backup = Message.CreateBackupRequest()
            backup.name = "nightly"
            return .createBackup(backup)
        case .importTransactions:
            var batch = Message.ImportTransactionsRequest()
            batch.scope = scope
            return .importTransactions(batch)
        case .forgetCustomer:
            var forget = Message.ForgetCustomerRequest()
            (forget.customer, forget.scope) = (customer, scope)
            return .forgetCustomer(forget)
        case .backfillNotifications, .listCustomers, .getFamily, .listRefunds, .auditAccess,
            .getReconciliation, .testNotification:
            return list(method, scope)
        }
    }

    private func list(_ method: CallMethod, _ scope: Message.Scope?) -> Request.Call? {
        switch method {
        case .backfillNotifications:
            var message = Message.BackfillNotificationsRequest()
            message.scope = scope
            return .backfillNotifications(message)
        case .listCustomers:
            var message = Message.ListCustomersRequest()
            message.scope = scope
            return .listCustomers(message)
        case .getFamily:
            var message = Message.GetFamilyRequest()
            (message.scope, message.householdID) = (scope, "h")
            return .getFamily(message)
        case .listRefunds:
            var message = Message.ListRefundsRequest()
            message.scope = scope
            return .listRefunds(message)
        case .auditAccess:
            var message = Message.AuditAccessRequest()
            message.scope = scope
            return .auditAccess(message)
        case .getReconciliation:
            var message = Message.GetReconciliationRequest()
            message.scope = scope
            return .getReconciliation(message)
        case .testNotification:
            var message = Message.TestNotificationRequest()
            message.scope = scope
            return .testNotification(message)
        default: return nil
        }
    }

    private func check(_ scope: Message.Scope?) -> Message.CheckAccessRequest {
        var check = Message.CheckAccessRequest(
            customer: .customerID("ann"), subject: .product("meadow.lifetime"))
        check.scope = scope
        return check
    }

    /// What Apple signs for an app.
    private func fixtures(_ scope: Message.Scope?) -> SignedFixtures {
        var fixtures = bench.fixtures
        if let scope, let bundleID = scope.bundleID.string, !bundleID.isEmpty {
            if bundleID == Self.other { fixtures.appAppleID += 1 }
            fixtures.bundleID = bundleID
        }
        if scope?.environment.rawValue == 2 { fixtures.environment = "Sandbox" }
        return fixtures
    }

    private func notification(_ scope: Message.Scope?) throws -> [UInt8] {
        let fixtures = fixtures(scope)
        let jws = try fixtures.transaction(
            "9001", product: "p", purchased: SessionBench.now - 1_000)
        return SignedFixtures.body(
            try fixtures.notification(
                "SUBSCRIBED", uuid: "u-\(scope?.bundleID.description ?? "")",
                signed: SessionBench.now - 500,
                data: fixtures.notificationData(transaction: jws)))
    }

    // MARK: Asking

    func request(
        _ id: UInt64 = 1, _ key: Text = "", _ method: CallMethod = .checkAccess,
        _ scope: Message.Scope? = nil
    ) throws -> Request {
        var request = Request(id: id, call: try call(method, scope))
        request.apiKey = key
        return request
    }

    /// The reason of the only answer; empty where it was carried out.
    func ask(_ request: Request) throws -> String { try bench.ask(request).reason.description }
}
