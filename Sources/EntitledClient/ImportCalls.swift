internal import Wire

/// What notifications said of a transaction beyond its signed copies: of each kind the signed date
/// of the newest; nil = none.
public struct TransactionEvidence: Hashable, Sendable {
    /// A REVOKE without a revocationDate.
    public var datelessRevokeMilliseconds: Int64?
    /// SUBSCRIBED, ONE_TIME_CHARGE, DID_RENEW or REFUND_REVERSED.
    public var grantNotificationMilliseconds: Int64?
    /// Status 1 or 4.
    public var activeStatusMilliseconds: Int64?
    /// A copy that carried a revocationDate.
    public var datedCopyMilliseconds: Int64?

    /// None.
    public init() {}
}

/// One of Apple's names that was linked to a customer in so many words.
public struct LinkedIdentity: Hashable, Sendable {
    /// The name.
    public var identity: CustomerReference
    /// The revision that moved it to him from whosever it was; nil = it was only said.
    public var movedAtRevision: UInt64?

    /// A link.
    public init(identity: CustomerReference, movedAtRevision: UInt64? = nil) {
        self.identity = identity
        self.movedAtRevision = movedAtRevision
    }
}

/// A transaction that another server exported, to be handed in.
public struct ImportedTransaction: Hashable, Sendable {
    /// Whose it is: the app's own user id, or one of Apple's names where nobody had said who it is.
    public var customer: CustomerReference
    /// The JWS as Apple signed it.
    public var signedTransaction: String
    /// The JWS of the renewal info of its chain; empty: none, or with another row of the chain.
    public var signedRenewal: String
    /// What notifications said of it.
    public var evidence: TransactionEvidence
    /// Whether its chain was linked to the customer in so many words.
    public var isChainLinked: Bool

    /// A transaction.
    public init(
        customer: CustomerReference, signedTransaction: String, signedRenewal: String = "",
        evidence: TransactionEvidence = TransactionEvidence(), isChainLinked: Bool = false
    ) {
        self.customer = customer
        self.signedTransaction = signedTransaction
        self.signedRenewal = signedRenewal
        self.evidence = evidence
        self.isChainLinked = isChainLinked
    }
}

/// What became of an import.
public struct ImportResult: Hashable, Sendable {
    /// What went wrong; all other transactions were taken in.
    public var problems: [ImportProblem]
    /// How many transactions and renewal infos said something new.
    public var learntCount: Int
    /// Answers that flipped, or would flip, or have another reason.
    public var changes: [AccessChange]
    /// The revision that contains it.
    public var revision: UInt64
}

/// A transaction of an import that went wrong.
public struct ImportProblem: Hashable, Sendable {
    /// Its position in what was handed in, from 0.
    public var position: Int
    /// What is wrong.
    public var refusal: Refusal
    /// Whether it was taken in all the same, and another customer than its own has its chain now:
    /// by what is linked there, or as long as not all of the chain is there.
    public var isTakenIn: Bool
}

extension Client {
    /// Hands in what another server exported. A repeat does no harm, and neither does any order.
    ///
    /// - Parameters:
    ///   - transactions: At most 1,000, and as many as fit a frame.
    ///   - isDryRun: Only tell what would change.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: What went wrong, and what changed.
    /// - Throws: `ClientError`.
    public func importTransactions(
        _ transactions: [ImportedTransaction], isDryRun: Bool = false, scope: Scope? = nil,
        timeout: Duration? = nil
    ) async throws(ClientError) -> ImportResult {
        var request = Message.ImportTransactionsRequest()
        request.scope = (scope ?? configuration.scope).map { Message.Scope($0) }
        request.rows = transactions.map { Message.ImportedTransaction($0) }
        request.dryRun = isDryRun
        let result = try await perform(
            .importTransactions(request), timeout: timeout, isRepeatable: true)
        guard case .importTransactions(let response) = result else { throw .unasked }
        return ImportResult(response)
    }
}

extension Message.ImportedTransaction {
    init(_ transaction: ImportedTransaction) {
        self.init()
        customer = Message.CustomerRef(transaction.customer)
        signedTransaction = Text(transaction.signedTransaction)
        signedRenewal = Text(transaction.signedRenewal)
        let evidence = transaction.evidence
        datelessRevokeMilliseconds = evidence.datelessRevokeMilliseconds ?? 0
        grantNotificationMilliseconds = evidence.grantNotificationMilliseconds ?? 0
        activeStatusMilliseconds = evidence.activeStatusMilliseconds ?? 0
        datedCopyMilliseconds = evidence.datedCopyMilliseconds ?? 0
        chainLinked = transaction.isChainLinked
    }
}

extension ImportResult {
    init(_ message: Message.ImportTransactionsResponse) {
        problems = message.problems.map { ImportProblem($0) }
        learntCount = Int(message.learnt)
        changes = message.changes.map { AccessChange($0) }
        revision = message.revision
    }
}

extension ImportProblem {
    init(_ message: Message.ImportProblem) {
        position = Int(message.position)
        refusal = Refusal(
            status: StatusCode(rawValue: message.status.rawValue),
            reason: message.reason.description, message: message.message.description)
        isTakenIn = message.takenIn
    }
}

extension TransactionEvidence {
    init(_ message: Message.TransactionRecord) {
        datelessRevokeMilliseconds = AccessAnswer.instant(message.datelessRevokeMilliseconds)
        grantNotificationMilliseconds = AccessAnswer.instant(message.grantNotificationMilliseconds)
        activeStatusMilliseconds = AccessAnswer.instant(message.activeStatusMilliseconds)
        datedCopyMilliseconds = AccessAnswer.instant(message.datedCopyMilliseconds)
    }
}
