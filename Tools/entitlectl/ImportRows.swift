internal import EntitledClient
internal import ToolSupport

/// The columns that an import reads; all others are passed over.
enum ImportColumn: String, CaseIterable {
    case customerID = "customer_id"
    case customerKind = "customer_kind"
    case householdID = "household_id"
    case links
    /// How many he has; may be missing.
    case transactions
    case transactionID = "transaction_id"
    case signedPayload = "signed_payload"
    case signedRenewal = "signed_renewal"
    case datelessRevoke = "dateless_revoke_at"
    case grantNotification = "grant_notification_at"
    case activeStatus = "active_status_at"
    case datedCopy = "dated_copy_at"
    case chainLinked = "chain_linked"

    /// Those without which a customer is not what he was.
    static let ofCustomers: [ImportColumn] = [.customerID, .customerKind, .householdID, .links]
    /// Those without which a transaction is not what it was.
    static let ofTransactions: [ImportColumn] = [
        .customerID, .customerKind, .transactionID, .signedPayload, .signedRenewal,
        .datelessRevoke, .grantNotification, .activeStatus, .datedCopy, .chainLinked,
    ]

    /// The names in the first line of a CSV file, when those of a table are among them.
    ///
    /// - Throws: `CommandFailure` that says what is missing.
    static func named(
        _ names: Result<[String], LineFault>
    ) throws(CommandFailure) -> [String] {
        switch names {
        case .failure(let fault):
            throw CommandFailure(.failed, "line 1: \(fault.message) (\(fault.reason))")
        case .success(let names):
            let table = names.contains(transactionID.rawValue) ? ofTransactions : ofCustomers
            if let missing = table.first(where: { !names.contains($0.rawValue) }) {
                throw CommandFailure(
                    .failed,
                    "line 1: the column \(missing.rawValue) is missing (MISSING_COLUMN)",
                    hint: "customers and transactions that a server of this release exported can"
                        + " be imported, in JSON lines or in CSV with its line of names")
            }
            return names
        }
    }
}

/// A line of an exported file, understood.
enum ImportRow: Equatable, Sendable {
    case customer(ImportedCustomer)
    case transaction(ImportedTransaction)

    /// What the cells of a line say.
    init(_ cells: [String: String]) throws(LineFault) {
        let isTransaction = cells[ImportColumn.transactionID.rawValue] != nil
        let table = isTransaction ? ImportColumn.ofTransactions : ImportColumn.ofCustomers
        if let missing = table.first(where: { cells[$0.rawValue] == nil }) {
            throw LineFault(
                reason: "MISSING_COLUMN", message: "the column \(missing.rawValue) is missing")
        }
        let cells = ImportCells(cells: cells)
        self =
            isTransaction
            ? .transaction(try cells.transaction()) : .customer(try cells.customer())
    }
}

/// What people said of a customer.
struct ImportedCustomer: Equatable, Sendable {
    /// The app's own user id; nil: nobody had said who it is, and nothing is to be said.
    let customerID: String?
    /// Empty: none.
    let householdID: String
    let links: [LinkedIdentity]
    /// Whether he has transactions, which name him by themselves.
    var hasTransactions = false
}

/// The cells of a line, by their columns.
private struct ImportCells {
    let cells: [String: String]

    private func text(_ column: ImportColumn) -> String { cells[column.rawValue] ?? "" }

    func customer() throws(LineFault) -> ImportedCustomer {
        var name: String?
        if case .customer(let id) = try reference() { name = id }
        let household = text(.householdID)
        if !household.isEmpty { try check(household, .householdID) }
        var links: [LinkedIdentity] = []
        for word in text(.links).utf8.split(separator: 0x20) {
            guard let link = LinkedIdentity(exported: Substring(word)) else {
                throw .value(ImportColumn.links.rawValue, "there is a name that is none")
            }
            links.append(link)
        }
        let hasTransactions = !["", "0"].contains(text(.transactions))
        return ImportedCustomer(
            customerID: name, householdID: household, links: links,
            hasTransactions: hasTransactions)
    }

    func transaction() throws(LineFault) -> ImportedTransaction {
        let payload = text(.signedPayload)
        guard !payload.isEmpty else {
            throw LineFault(
                reason: "SIGNED_PAYLOAD_MISSING",
                message: "the server that exported it has not what Apple signed any more")
        }
        var evidence = TransactionEvidence()
        evidence.datelessRevokeMilliseconds = try instant(.datelessRevoke)
        evidence.grantNotificationMilliseconds = try instant(.grantNotification)
        evidence.activeStatusMilliseconds = try instant(.activeStatus)
        evidence.datedCopyMilliseconds = try instant(.datedCopy)
        return ImportedTransaction(
            customer: try reference(), signedTransaction: payload,
            signedRenewal: text(.signedRenewal), evidence: evidence,
            isChainLinked: try flag(.chainLinked))
    }

    private func reference() throws(LineFault) -> CustomerReference {
        let name = text(.customerID)
        try check(name, .customerID)
        guard let reference = CustomerReference(kind: text(.customerKind), name: name) else {
            throw .value(ImportColumn.customerKind.rawValue, "it is no kind of name")
        }
        return reference
    }

    /// What the server would refuse a whole call for.
    private func check(_ name: String, _ column: ImportColumn) throws(LineFault) {
        guard (1...128).contains(name.utf8.count) else {
            throw LineFault(
                reason: "INVALID_IDENTIFIER", message: "\(column.rawValue) is not of 1 to 128 bytes"
            )
        }
    }

    private func instant(_ column: ImportColumn) throws(LineFault) -> Int64? {
        let text = text(column)
        guard !text.isEmpty else { return nil }
        guard let milliseconds = Instant.parse(text) else {
            throw .value(column.rawValue, "it is no instant after 1970")
        }
        return milliseconds
    }

    private func flag(_ column: ImportColumn) throws(LineFault) -> Bool {
        switch text(column) {
        case "true": true
        case "false": false
        default: throw .value(column.rawValue, "it is not true or false")
        }
    }
}

// MARK: - Names of customers in a cell

extension CustomerReference {
    private static let customerKind = "customer_id"
    private static let tokenKind = "app_account_token"
    private static let accountKind = "app_transaction_id"
    private static let chainKind = "original_transaction_id"

    /// The kind of name, and the name.
    var exported: (kind: String, name: String) {
        switch self {
        case .customer(let name): (Self.customerKind, name)
        case .appAccountToken(let name): (Self.tokenKind, name)
        case .appTransaction(let name): (Self.accountKind, name)
        case .originalTransaction(let name): (Self.chainKind, name)
        }
    }

    init?(kind: String, name: String) {
        switch kind {
        case Self.customerKind: self = .customer(name)
        case Self.tokenKind: self = .appAccountToken(name)
        case Self.accountKind: self = .appTransaction(name)
        case Self.chainKind: self = .originalTransaction(name)
        default: return nil
        }
    }
}

extension LinkedIdentity {
    /// One word of a list: `original_transaction_id:2000`, with the revision and @ before what was
    /// moved. White space, controls and % in a name are %XX.
    var exported: String {
        let (kind, name) = identity.exported
        var word = movedAtRevision.map { "\($0)@" } ?? ""
        word += kind + ":"
        for scalar in name.unicodeScalars {
            if scalar.value <= 0x20 || scalar == "%" || scalar.value == 0x7F {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                word += "%" + (digits.count < 2 ? "0" : "") + digits
            } else {
                word.unicodeScalars.append(scalar)
            }
        }
        return word
    }

    /// The inverse.
    init?(exported word: Substring) {
        guard let colon = word.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var kind = String(word[..<colon])
        var revision: UInt64?
        if let at = kind.firstIndex(of: "@") {
            guard let number = UInt64(kind[..<at]), number > 0 else { return nil }
            revision = number
            kind = String(kind[kind.index(after: at)...])
        }
        var name: [UInt8] = []
        var rest = word.utf8[word.utf8.index(after: colon)...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                name.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            name.append(value)
            rest = rest.dropFirst(2)
        }
        guard (1...128).contains(name.count), let text = String(validating: name, as: UTF8.self),
            let identity = CustomerReference(kind: kind, name: text)
        else { return nil }
        if case .customer = identity { return nil }
        self.init(identity: identity, movedAtRevision: revision)
    }
}
