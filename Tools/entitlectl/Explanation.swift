internal import EntitledClient
internal import ToolSupport

/// A verdict in words, and everything that was looked at for it.
struct Explanation: Sendable {
    /// What kind of event the verdict goes back to.
    enum Cause: String, Sendable {
        /// Access is there.
        case none = "NONE"
        /// A payment went back.
        case refund = "REFUND"
        /// Sharing ended and no payment went back.
        case departure = "DEPARTURE"
        /// The paid time is over, or has not begun.
        case time = "TIME"
        /// Nothing was bought, or not this.
        case nothingBought = "NOTHING_BOUGHT"
        /// Another reason.
        case other = "OTHER"
    }

    let isGranted: Bool
    let cause: Cause
    /// Whether a payment went back to whoever paid.
    let isPaymentReversed: Bool
    /// False where the signed data leave the cause open.
    let isCauseCertain: Bool
    /// One sentence: yes or no.
    let verdict: String
    /// Why, in sentences that may be sent on.
    let sentences: [String]
    /// What support should know and the customer need not, in sentences.
    let attention: [String]
    /// The customer's transactions of what was asked about.
    let transactions: [TransactionRecord]
    /// One line for everything that was looked at.
    let lookedAt: [String]
    /// What the server says of the product now; nil where it says something else than the answer.
    let entitlement: Entitlement?
    /// When Apple's history of the customer was last fetched whole; nil = never.
    let refreshedAtMilliseconds: Int64?
    /// The fetch that he waits for.
    let queuedRefresh: QueuedRefresh?

    /// The explanation of an answer; `name` is the customer as the caller named him.
    init(question: AccessQuestion, name: String, answer: AccessAnswer, customer: Customer?) {
        let subject = Self.subject(question)
        let products = Self.products(question, customer)
        let relevant = (customer?.transactions ?? [])
            .filter { products.contains($0.productID) }
            .sorted { $0.purchaseDateMilliseconds < $1.purchaseDateMilliseconds }
        let deciding = relevant.first { $0.transactionID == answer.transactionID }
        // What the server says of now is the better witness while it speaks of the same reason.
        let entitlement = customer?.entitlements.first {
            $0.transactionID == answer.transactionID && $0.reason == answer.reason
        }
        let writer = ReasonWriter(answer: answer, deciding: deciding, entitlement: entitlement)
        isGranted = answer.isGranted
        cause = writer.cause
        isPaymentReversed = writer.isPaymentReversed
        isCauseCertain = writer.isCauseCertain
        let moment =
            question.atMilliseconds.map { " on \(Instant.sentence($0))" } ?? ""
        verdict =
            answer.isGranted
            ? "Yes: \(name) may use \(subject)\(moment)."
            : "No: \(name) may not use \(subject)\(moment)."
        sentences =
            writer.sentences + Self.others(relevant, beside: answer.transactionID, answer)
            + Self.outlook(customer?.queuedRefresh)
        // It is of now.
        attention = question.atMilliseconds == nil ? writer.attention : []
        transactions = relevant
        self.entitlement = entitlement
        refreshedAtMilliseconds = customer?.refreshedAtMilliseconds
        queuedRefresh = customer?.queuedRefresh
        lookedAt = Self.lookedAt(
            customer, relevant, products: products, decidedBy: answer)
    }

    private static func subject(_ question: AccessQuestion) -> String {
        switch question.subject {
        case .product(let id): id
        case .entitlement(let name): "\"\(name)\""
        }
    }

    private static func products(
        _ question: AccessQuestion, _ customer: Customer?
    ) -> Set<String> {
        switch question.subject {
        case .product(let id): [id]
        case .entitlement(let name):
            Set((customer?.entitlements ?? []).filter { $0.names.contains(name) }.map(\.productID))
        }
    }

    /// Why the other transactions of the product do not change the verdict.
    private static func others(
        _ records: [TransactionRecord], beside decidingID: String, _ answer: AccessAnswer
    ) -> [String] {
        let others = records.filter { $0.transactionID != decidingID }
        // No transaction decided where none has begun, or where nothing was bought.
        guard !others.isEmpty, !decidingID.isEmpty else { return [] }
        let revokedCount = others.filter {
            $0.revocationDateMilliseconds != nil || $0.isOverridden || $0.isSuspended
        }.count
        let count = others.count == 1 ? "One other transaction" : "\(others.count) others"
        if answer.isGranted {
            return revokedCount == 0
                ? []
                : [
                    "\(count) of the same product: \(revokedCount) ended early; that does not"
                        + " matter while this one is valid."
                ]
        }
        return ["\(count) of the same product: none gives access either."]
    }

    /// What may change the verdict soon.
    private static func outlook(_ queued: QueuedRefresh?) -> [String] {
        guard let queued else { return [] }
        var sentence = "Apple's history of this customer is about to be fetched once more"
        sentence += queued.attemptCount > 0 ? " (it has failed so far)" : ""
        return [sentence + "; the answer may change with it."]
    }

    private static func lookedAt(
        _ customer: Customer?, _ records: [TransactionRecord], products: Set<String>,
        decidedBy answer: AccessAnswer
    ) -> [String] {
        guard let customer else {
            return ["nothing is stored under this name (revision \(answer.revision))"]
        }
        var lines = ["customer \(customer.customerID)"]
        let names = customer.identities.joined(separator: ", ")
        if !names.isEmpty { lines.append("known as \(names)") }
        if let household = customer.householdID { lines.append("household \(household)") }
        for record in records {
            let mark = record.transactionID == answer.transactionID ? ", which decided" : ""
            lines.append("transaction \(describe(record))\(mark)")
        }
        let elsewhere = customer.transactions.count - records.count
        if elsewhere > 0 {
            lines.append("\(elsewhere) transaction(s) of other products, which do not count here")
        }
        let ids = Set(records.map(\.transactionID))
        for record in customer.notifications where ids.contains(record.transactionID) {
            let kind = [record.notificationType, record.subtype].filter { !$0.isEmpty }
                .joined(separator: "/")
            lines.append(
                "notification \(kind) \(record.notificationUUID), signed"
                    + " \(Instant.text(record.signedDateMilliseconds)), \(record.disposition.name)")
        }
        for record in customer.audit {
            lines.append(
                "\(record.action) at \(Instant.text(record.atMilliseconds))"
                    + (record.detail.isEmpty ? "" : ": \(record.detail)"))
        }
        lines.append(
            customer.refreshedAtMilliseconds.map {
                "Apple's history of this customer, fetched whole \(Instant.text($0))"
            } ?? "Apple's history of this customer was never fetched; what Apple sent is here")
        if let queued = customer.queuedRefresh { lines.append(queued.sentence) }
        lines.append("revision \(answer.revision)")
        return lines
    }

    private static func describe(_ record: TransactionRecord) -> String {
        var text = "\(record.transactionID) (\(record.productID)"
        if record.originalTransactionID != record.transactionID {
            text += ", chain \(record.originalTransactionID)"
        }
        text += "), \(record.rawOwnership.isEmpty ? record.ownership.name : record.rawOwnership)"
        text += ", bought \(Instant.text(record.purchaseDateMilliseconds))"
        if let expires = record.expiresDateMilliseconds {
            text += ", paid until \(Instant.text(expires))"
        }
        if let revoked = record.revocationDateMilliseconds {
            let type = record.revocationType.isEmpty ? "" : " as \(record.revocationType)"
            text +=
                ", revoked \(Instant.text(revoked))\(type)"
                + " with reason \(record.revocationReason)"
        }
        if record.isOverridden { text += ", ended by a REVOKE without a date" }
        if record.isSuspended { text += ", suspended with its household" }
        if record.isUpgraded { text += ", replaced by an upgrade" }
        return text + ", signed \(Instant.text(record.signedDateMilliseconds))"
    }
}
