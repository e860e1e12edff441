internal import Wire

/// One check, as the auditor sees it.
struct CheckQuestion: Hashable, Sendable {
    var name: SimulatedName
    /// nil: the entitlement of the catalog.
    var product: SimulatedProduct?
    /// The instant asked about, in ms since 1970; 0: now.
    var instant: Int64 = 0
    var minRevision: UInt64 = 0
}

/// What a client asks for.
enum Inquiry: Sendable {
    case check(CheckQuestion)
    case batch([CheckQuestion])
    /// The index of the write.
    case write(Int)
    case customer(SimulatedName)
    case serverInfo

    /// For traces.
    var summary: String {
        switch self {
        case .check(let question): "check \(question.summary)"
        case .batch(let questions): "batch of \(questions.count)"
        case .write(let index): "write \(index)"
        case .customer(let name): "customer \(name.summary)"
        case .serverInfo: "server info"
        }
    }
}

/// An inquiry on its way, with what was true when it was sent.
struct Asked: Sendable {
    var id: UInt64
    var client: Int
    var connection: Int
    var inquiry: Inquiry
    /// Simulated ms.
    var sentAt: Int64
    var timeoutMilliseconds: Int64
    /// The newest revision that anybody had been told.
    var floor: UInt64
}

extension SimulatedName {
    /// For traces.
    var summary: String {
        switch self {
        case .customer(let person): Self.customerID(person)
        case .account(let person): Self.accountID(person)
        case .token(let person): "token of \(Self.accountID(person))"
        case .chain(let chain): "chain \(TransactionCopy.id(chain))"
        }
    }

    /// As it is said on the wire.
    var reference: Message.CustomerRef {
        switch self {
        case .customer(let person): .customerID(Text(Self.customerID(person)))
        case .account(let person): .appTransactionID(Text(Self.accountID(person)))
        case .token(let person): .appAccountToken(Text(Self.tokenID(person)))
        case .chain(let chain): .originalTransactionID(Text(TransactionCopy.id(chain)))
        }
    }
}

extension CheckQuestion {
    /// For traces.
    var summary: String {
        let subject = product.map { "\($0)" } ?? "plus"
        let at = instant == 0 ? "" : " at \(instant - SimulatedClock.beginning)"
        let from = minRevision == 0 ? "" : " from \(minRevision)"
        return "\(name.summary) \(subject)\(at)\(from)"
    }

    /// As it is said on the wire.
    var message: Message.CheckAccessRequest {
        let subject: Message.Subject =
            product.map { .product(Text($0.id)) }
            ?? .entitlement(Text(SimulatedCatalog.entitlement))
        var message = Message.CheckAccessRequest(customer: name.reference, subject: subject)
        message.atMilliseconds = instant
        message.minRevision = minRevision
        return message
    }
}
