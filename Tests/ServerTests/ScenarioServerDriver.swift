import Glibc
import TestSupport
import Wire

/// Plays scenarios against a running server, over one TCP connection.
struct ScenarioServerDriver: ScenarioDriver {
    /// An answer that no scenario can ask for.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let connection: ScenarioConnection

    /// A driver of the server at `127.0.0.1:PORT`.
    init(address: String) throws {
        connection = try ScenarioConnection(to: address)
    }

    func notify(_ body: [UInt8]) throws -> ScenarioAnswer {
        let response = try connection.ask(.ingestNotification(.init(payload: body)))
        if let refused = try refusal(response) { return .refused(refused) }
        guard case .ingestNotification(let result)? = response.result else {
            throw unexpected(response)
        }
        return .done(result.disposition.description)
    }

    func upload(_ upload: ScenarioUpload) throws -> ScenarioAnswer {
        var request = Message.IngestTransactionsRequest()
        request.customerID = Text(upload.customerID)
        request.signedTransactions = upload.transactions.map { Text($0) }
        request.signedRenewals = upload.renewals.map { Text($0) }
        request.signedAppTransaction = Text(upload.appTransaction)
        request.transfer = upload.isTransfer
        let response = try connection.ask(.ingestTransactions(request))
        if let refused = try refusal(response) { return .refused(refused) }
        guard case .ingestTransactions? = response.result else { throw unexpected(response) }
        return .done("")
    }

    func link(_ link: ScenarioLink, in scope: ScenarioScope) throws -> ScenarioAnswer {
        var request = Message.LinkCustomerRequest()
        request.customerID = Text(link.customerID)
        request.identity = link.identity.map { Message.CustomerRef($0) }
        request.scope = Message.Scope(scope)
        request.transfer = link.isTransfer
        request.householdID = Text(link.householdID)
        request.leaveHousehold = link.leavesHousehold
        let response = try connection.ask(.linkCustomer(request))
        if let refused = try refusal(response) { return .refused(refused) }
        guard case .linkCustomer? = response.result else { throw unexpected(response) }
        return .done("")
    }

    func check(_ check: ScenarioCheck, in scope: ScenarioScope) throws -> ScenarioVerdict {
        let subject = Text(check.subject)
        var request = Message.CheckAccessRequest(
            customer: Message.CustomerRef(check.customer),
            subject: check.isEntitlement ? .entitlement(subject) : .product(subject))
        request.atMilliseconds = check.instantMilliseconds
        request.scope = Message.Scope(scope)
        let response = try connection.ask(.checkAccess(request))
        if try refusal(response) == "UNKNOWN_SCOPE" {
            return ScenarioVerdict(reason: "UNKNOWN_SCOPE", validUntil: 0)
        }
        guard case .checkAccess(let result)? = response.result else { throw unexpected(response) }
        let reason = result.reason
        guard result.granted == [.active, .gracePeriod].contains(reason) else {
            throw Failure(description: "granted is \(result.granted) and the reason \(reason)")
        }
        return ScenarioVerdict(
            reason: reason.description, validUntil: result.validUntilMilliseconds)
    }

    func customer(
        _ customer: ScenarioCustomer, in scope: ScenarioScope
    ) throws -> ScenarioRecord? {
        var request = Message.GetCustomerRequest()
        request.customer = Message.CustomerRef(customer)
        request.scope = Message.Scope(scope)
        var whole: Message.GetCustomerResponse?
        repeat {
            let response = try connection.ask(.getCustomer(request))
            switch try refusal(response) {
            case "UNKNOWN_CUSTOMER"?, "UNKNOWN_SCOPE"?: return nil
            default: break
            }
            guard case .getCustomer(let page)? = response.result else {
                throw unexpected(response)
            }
            if whole == nil { whole = page } else { whole?.transactions += page.transactions }
            request.pageToken = page.nextPageToken
        } while !request.pageToken.isEmpty
        guard let whole else { return nil }
        guard whole.transactions.count == Int(whole.transactionsTotal) else {
            throw Failure(
                description: "\(whole.transactionsTotal) transactions were promised, "
                    + "\(whole.transactions.count) came")
        }
        return try ScenarioRecord(whole)
    }

    /// The reason of a refusal; nil when the call was carried out.
    private func refusal(_ response: Response) throws -> String? {
        guard response.status != .ok else { return nil }
        guard response.result == nil, !response.reason.isEmpty, !response.message.isEmpty else {
            throw unexpected(response)
        }
        return response.reason.description
    }

    private func unexpected(_ response: Response) -> Failure {
        Failure(description: "no answer to this call: \(response)")
    }
}

// MARK: - In the words of the wire

extension Message.Scope {
    fileprivate init(_ scope: ScenarioScope) {
        self.init(
            bundleID: Text(scope.scenarioBundleID),
            environment: scope.isScenarioSandbox ? .sandbox : .production)
    }
}

extension Message.CustomerRef {
    fileprivate init(_ customer: ScenarioCustomer) {
        let name = Text(customer.scenarioName)
        self =
            switch customer.scenarioKind {
            case .customerID: .customerID(name)
            case .appAccountToken: .appAccountToken(name)
            case .appTransactionID: .appTransactionID(name)
            case .originalTransactionID: .originalTransactionID(name)
            }
    }
}

extension ScenarioRecord {
    /// What scenarios look at of an answer.
    ///
    /// - Throws: `Failure` where two records have one name.
    fileprivate init(_ answer: Message.GetCustomerResponse) throws {
        let transactions = answer.transactions.map {
            ($0.transactionID.description, Self.values(of: $0))
        }
        let entitlements = answer.entitlements.map {
            ($0.productID.description, Self.values(of: $0))
        }
        for names in [transactions.map(\.0), entitlements.map(\.0)]
        where Set(names).count != names.count {
            throw ScenarioServerDriver.Failure(description: "one of \(names) came twice")
        }
        self.init(
            customerID: answer.customerID.description,
            transactions: Dictionary(uniqueKeysWithValues: transactions),
            dispositions: answer.notifications.map(\.disposition.description),
            entitlements: Dictionary(uniqueKeysWithValues: entitlements))
    }

    /// proto3 has no absent numbers and texts: 0 and nothing stand for them, and are left out. The
    /// two that may be 0 in earnest are read beside what always comes with them.
    private static func values(of record: Message.TransactionRecord) -> [String: String] {
        let isRevoked = record.revocationDateMilliseconds != 0
        let numbers: [(String, Int64, Bool)] = [
            ("from", record.purchaseDateMilliseconds, false),
            ("to", record.expiresDateMilliseconds, false),
            ("revoked", record.revocationDateMilliseconds, false),
            ("reason", Int64(record.revocationReason), isRevoked),
            ("percent", Int64(record.revocationPercentage), false),
            ("signed", record.signedDateMilliseconds, false),
            ("price", record.priceMilliunits, !record.currency.isEmpty),
        ]
        let texts = [
            ("original", record.originalTransactionID), ("product", record.productID),
            ("owner", record.rawOwnership), ("by", record.revocationType),
            ("token", record.appAccountToken), ("account", record.appTransactionID),
            ("web", record.webOrderLineItemID), ("currency", record.currency),
        ]
        var values = [
            "upgraded": word(record.isUpgraded), "overridden": word(record.overridden),
            "suspended": word(record.suspended),
        ]
        for (name, number, isKept) in numbers where number != 0 || isKept {
            values[name] = "\(number)"
        }
        for (name, text) in texts where !text.isEmpty { values[name] = text.description }
        return values
    }

    private static func values(of entitlement: Message.Entitlement) -> [String: String] {
        var values = [
            "granted": word(entitlement.granted), "reason": entitlement.reason.description,
            "transaction": entitlement.transactionID.description,
            "reversed": word(entitlement.paymentReversed),
            "certain": word(entitlement.causeCertain),
        ]
        let revoked = entitlement.revokedAtMilliseconds
        if revoked != 0 { values["revoked"] = "\(revoked)" }
        return values
    }

    private static func word(_ value: Bool) -> String { value ? "yes" : "no" }
}

// MARK: - The socket

/// One connection that asks, waits for the answer, and asks again.
private final class ScenarioConnection {
    /// How long a read or a write may take, in seconds.
    private static let patienceSeconds = 10

    private let descriptor: Int32
    private let arena = MessageArena()
    private var lastID: UInt64 = 0

    init(to address: String) throws {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw ScenarioServerDriver.Failure(description: "no port in \(address)")
        }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw broken("connect to \(address)") }
    }

    deinit { close(descriptor) }

    /// Sends a call and waits for its answer.
    func ask(_ call: Request.Call) throws -> Response {
        lastID += 1
        var rest = try RawConnection.frame(Request(id: lastID, call: call))[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw broken("send") }
            rest = rest.dropFirst(count)
        }
        let prefix = try receive(FrameDecoder.prefixByteCount)
        let body = try receive(prefix.reduce(0) { $0 << 8 | Int($1) })
        arena.reset()
        let response = try Response(decoding: body.span, in: arena)
        guard response.id == lastID else {
            throw ScenarioServerDriver.Failure(
                description: "asked \(lastID), answered \(response.id): \(response)")
        }
        return response
    }

    private func receive(_ byteCount: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var filled = 0
        while filled < byteCount {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return unsafe recv(descriptor, rest.baseAddress, rest.count, 0)
            }
            guard count > 0 else {
                throw count == 0
                    ? ScenarioServerDriver.Failure(description: "the server closed")
                    : broken("receive")
            }
            filled += count
        }
        return bytes
    }

    private func broken(_ what: String) -> ScenarioServerDriver.Failure {
        .init(description: "\(what): errno \(errno)")
    }
}
