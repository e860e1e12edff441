import AppStore
package import Entitlements

/// Facts that another server of this kind exported, of one app and environment.
package struct ImportRequest: Hashable, Sendable {
    /// The world.
    package var scope: ScopeIndex
    /// In any order; what is repeated does no harm.
    package var rows: [ImportRow]
    /// Whether only the difference is shown.
    package var isDryRun: Bool

    /// An import.
    package init(scope: ScopeIndex, rows: [ImportRow], isDryRun: Bool = false) {
        self.scope = scope
        self.rows = rows
        self.isDryRun = isDryRun
    }
}

/// One transaction with what stands beside it.
package struct ImportRow: Hashable, Sendable {
    /// Whose it is: the app's name, or Apple's where nobody had said who it is.
    package var customer: CustomerReference
    /// Compact JWS, ASCII.
    package var signedTransaction: [UInt8]
    /// The renewal info of its chain, compact JWS, ASCII; empty: none, or with another row.
    package var signedRenewal: [UInt8]
    /// What notifications said of it. Nobody has signed these dates together with the transaction.
    package var evidence: Evidence
    /// Whether its chain was linked to the customer in so many words.
    package var isChainLinked: Bool

    /// A row.
    package init(
        customer: CustomerReference, signedTransaction: [UInt8], signedRenewal: [UInt8] = [],
        evidence: Evidence = Evidence(), isChainLinked: Bool = false
    ) {
        self.customer = customer
        self.signedTransaction = signedTransaction
        self.signedRenewal = signedRenewal
        self.evidence = evidence
        self.isChainLinked = isChainLinked
    }
}

/// A row that went wrong.
package struct ImportProblem: Hashable, Sendable {
    /// Its position in the request, from 0.
    package var position: Int
    /// What is wrong with it.
    package var refusal: Refusal
    /// Whether it was taken in all the same, and another customer than its own has the chain now:
    /// by what is linked, or as long as not all rows of the chain are here.
    package var isTakenIn: Bool
}

/// The answer to an import.
package struct ImportReply: Hashable, Sendable {
    /// Rows that went wrong, ascending by position; all others are taken in.
    package var problems: [ImportProblem]
    /// How many transactions and renewal infos said something new.
    package var learntCount: Int
    /// The answers that flipped, or would flip.
    package var changes: [EntitlementChange]
    /// The revision that contains it.
    package var revision: UInt64
}

extension EntitlementService {
    /// How far a date of evidence may be ahead of our clock and of what came with it, in ms: *now*
    /// is never before the newest date known of a customer, and a date of the year 9999 would end
    /// whatever he has.
    private static var aheadMillisecondsMax: Int64 { 24 * 60 * 60 * 1_000 }

    /// Verifies each row by itself: one that is not what Apple signed leaves the others alone.
    ///
    /// - Throws: UNTRUSTED_CHAIN by the quick verifier alone, of a chain that it did not look at.
    func verify(
        _ request: ImportRequest, by verifier: SignedDataVerifier
    ) throws(Refusal) -> Event.Import {
        let scope = world(request.scope).scope
        var content = Event.Import(
            scope: scope, rows: [], problems: [], isDryRun: request.isDryRun)
        for (position, row) in request.rows.enumerated() {
            do throws(Refusal) {
                content.rows.append(try verify(row, at: position, of: scope, by: verifier))
            } catch {
                if verifier === quickVerifier, error.reason == .untrustedChain { throw error }
                content.problems.append(
                    ImportProblem(position: position, refusal: error, isTakenIn: false))
            }
        }
        for problem in content.problems { counters.count(problem.refusal.reason) }
        return content
    }

    private func verify(
        _ row: ImportRow, at position: Int, of scope: Scope, by verifier: SignedDataVerifier
    ) throws(Refusal) -> Event.Import.Row {
        let verified = try verifying { () throws(AppStoreError) in
            try verifier.verifyTransaction(row.signedTransaction)
        }
        guard isSame(verified.scope.bundleID, scope.bundleID) else {
            throw Refusal(.wrongApp, "the transaction is of \(verified.scope.bundleID)")
        }
        guard verified.scope.environment == scope.environment else {
            throw Refusal(
                .wrongEnvironment, "the transaction is of \(verified.scope.environment.name)")
        }
        let transaction = verified.signed.transaction
        var renewal: SignedRenewal?
        if !row.signedRenewal.isEmpty {
            let found = try verifying { () throws(AppStoreError) in
                try verifier.verifyRenewal(row.signedRenewal)
            }
            let chain = found.signed.renewal.originalTransactionID
            guard found.environment == scope.environment,
                isSame(chain, transaction.originalTransactionID)
            else {
                throw Refusal(
                    .renewalMismatch,
                    "the renewal info is of chain \(chain) in \(found.environment.name), the "
                        + "transaction of \(transaction.originalTransactionID)")
            }
            renewal = found.signed
        }
        try check(row.evidence, of: transaction, renewal)
        return Event.Import.Row(
            position: position, customer: Identity(row.customer), transaction: verified.signed,
            renewal: renewal, evidence: row.evidence, isChainLinked: row.isChainLinked)
    }

    /// Refuses dates that cannot be.
    private func check(
        _ evidence: Evidence, of transaction: Transaction, _ renewal: SignedRenewal?
    ) throws(Refusal) {
        if let dated = evidence.datedCopy, dated > transaction.signedDate {
            throw Refusal(
                .invalidField, "a revoked copy that is newer than the newest copy that is known")
        }
        let known = max(
            configuration.clock(), transaction.signedDate,
            renewal?.renewal.signedDate ?? .distantPast)
        let dates = [
            evidence.datelessRevoke, evidence.grantNotification, evidence.activeStatus,
            evidence.datedCopy,
        ].compactMap(\.self)
        guard dates.allSatisfy({ $0.milliseconds > 0 }),
            dates.allSatisfy({ $0 <= known.adding(milliseconds: Self.aheadMillisecondsMax) })
        else {
            throw Refusal(
                .invalidField, "a date of evidence before 1970, or a day and more in the future")
        }
    }
}
