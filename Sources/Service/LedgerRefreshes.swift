import Entitlements
import Storage

// Who is to be fetched from Apple, and what becomes of it: jobs are queued in the commit of what
// asks for them, so that a crash forgets none.

extension Ledger {
    /// Queues whom a notification asks to be fetched; whether it was somebody of an unsigned body.
    mutating func queueRefreshes(
        after notification: Notification, in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) -> Bool {
        guard workspace.refreshes.isQueueing else { return false }
        if notification.isUnsigned {
            return try queueHinted(notification.hintedChains, in: scope, at: clock)
        }
        if let transaction = notification.transaction?.transaction, notification.isReversal {
            workspace.reversals.append(transaction)
        }
        try queueFamilies(in: scope, at: clock)
        guard let trigger = notification.refreshTrigger else { return false }
        for key in try workspace.claimants(of: notification.identities, in: scope) {
            try workspace.queueRefresh(of: key, trigger: trigger, at: clock)
        }
        return false
    }

    /// Queues everybody who has a family copy of what the current event refunded or gave back, in
    /// the household of its buyer, and the buyer with them; nobody where nobody shares.
    ///
    /// Their own REVOKE may be lost. After a reversal their revoked copies count as well: those are
    /// the ones that may have come back without a word. `sparing` was fetched just now.
    mutating func queueFamilies(
        sparing: CustomerKey? = nil, in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) {
        guard workspace.refreshes.isQueueing else { return }
        let purchases = workspace.reversals
        workspace.reversals = []
        for purchase in purchases {
            let identity = Identity(.transaction, purchase.transactionID)
            for buyer in try workspace.claimants(of: [identity], in: scope) {
                let sharers = try workspace.sharers(of: purchase, boughtBy: buyer, at: clock)
                guard let isRefunded = sharers.isRefunded, !sharers.keys.isEmpty else { continue }
                for key in sharers.keys.sorted(by: { $0.number < $1.number }) where key != buyer {
                    try workspace.queueRefresh(
                        of: key, trigger: isRefunded ? .familyRefund : .refundReversed, at: clock)
                }
                guard buyer != sparing else { continue }
                try workspace.queueRefresh(
                    of: buyer, trigger: isRefunded ? .refund : .refundReversed, at: clock)
            }
        }
    }

    /// Queues whoever has one of the chains, or is all that is known of them.
    private mutating func queueHinted(
        _ chains: [String], in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) -> Bool {
        var keys: Set<CustomerKey> = []
        for chain in chains {
            keys.formUnion(
                try workspace.claimants(
                    of: [Identity(.originalTransaction, chain), Identity(.transaction, chain)],
                    in: scope))
        }
        // One account's history tells of all of its chains: those of a stranger are asked for until
        // one of them has brought the others.
        if keys.isEmpty {
            for chain in chains.prefix(Self.unknownChainCountMax) {
                keys.insert(try workspace.makeHinted(chain, in: scope))
            }
        }
        for key in keys.sorted(by: { $0.number < $1.number }) {
            try workspace.queueRefresh(of: key, trigger: .v1Hint, at: clock)
            workspace.noteHistory(key)
        }
        return !keys.isEmpty
    }

    private static var unknownChainCountMax: Int { 16 }

    /// Queues customers in a revision of its own: a fetch that began before it does not end what it
    /// asks for.
    mutating func queue(
        _ keys: [CustomerKey], for trigger: RefreshTrigger, at clock: Timestamp
    ) throws(LedgerFailure) -> WriteReply {
        guard workspace.refreshes.isQueueing else {
            throw .refused(
                Refusal(
                    .appStoreNotConfigured,
                    "no App Store Server API credentials are configured: nobody would fetch"))
        }
        workspace.beginRevision()
        let known = workspace.refreshes.jobChangeCount
        for key in keys { try workspace.queueRefresh(of: key, trigger: trigger, at: clock) }
        // Every revision is one that a reader comes to see.
        if workspace.refreshes.jobChangeCount == known { workspace.revision -= 1 }
        return .noted(revision: workspace.revision)
    }

    /// Notes why an attempt failed and when the next one may come.
    mutating func note(_ attempt: Event.Attempt) throws(LedgerFailure) -> WriteReply {
        if let key = try workspace.standing(attempt.key),
            var job = try workspace.refreshJob(of: key)
        {
            let (count, isOverflow) = job.attempts.addingReportingOverflow(1)
            job.attempts = isOverflow ? .max : count
            job.notBefore = attempt.notBefore
            job.lastReason = attempt.refusal.reason.rawValue
            job.lastMessage = String(attempt.refusal.message.prefix(500))
            workspace.setRefreshJob(job, of: key)
        } else if try workspace.standing(attempt.key) == nil {
            // Whoever is gone must not be asked about for ever.
            workspace.setRefreshJob(nil, of: attempt.key)
        }
        return .noted(revision: workspace.revision)
    }

    mutating func move(
        _ mark: ReconciliationMark, of scope: ScopeNumber, to instant: Timestamp
    ) throws(LedgerFailure) -> WriteReply {
        try workspace.move(mark, of: scope, to: instant)
        return .noted(revision: workspace.revision)
    }
}

extension Notification {
    /// Whether it says that a payment was reversed, or given back.
    fileprivate var isReversal: Bool { type == "REFUND" || type == "REFUND_REVERSED" }

    /// Why whom it names is to be fetched; nil when what it carries says all there is to say.
    fileprivate var refreshTrigger: RefreshTrigger? {
        if isRevoke { return .revoke }
        if isUnknown { return .unknownType }
        return type == "REFUND_REVERSED" ? .refundReversed : nil
    }
}

extension Workspace {
    /// Keeps a purchase whose payment was reversed or given back by its newest copy.
    mutating func notePayment(_ transaction: Transaction, before: Transaction?) {
        guard refreshes.isQueueing, transaction.ownership == .purchased else { return }
        let wasRevoked = before?.revocationDate != nil
        if wasRevoked != (transaction.revocationDate != nil) { reversals.append(transaction) }
    }

    /// Who has a family copy, not over yet, of what the customer bought: he himself and his
    /// household; and whether the purchase is refunded by all that is known now.
    mutating func sharers(
        of purchase: Transaction, boughtBy buyer: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) -> (keys: Set<CustomerKey>, isRefunded: Bool?) {
        guard let fact = try customer(buyer).transactions[purchase.transactionID] else {
            return ([], nil)
        }
        let isRefunded = fact.transaction.revocationDate != nil
        let now = max(clock, fact.transaction.signedDate)
        var keys: Set<CustomerKey> = []
        for key in try housemates(of: buyer).union([buyer]) {
            let isSharer = try customer(key).transactions.values.contains {
                $0.transaction.isFamilyCopy(of: purchase.productID, at: now)
                    && !(isRefunded && $0.transaction.revocationDate != nil)
            }
            if isSharer { keys.insert(key) }
        }
        return (keys, isRefunded)
    }
}

extension Transaction {
    /// Whether it is a shared copy of a product whose period is not over.
    fileprivate func isFamilyCopy(of product: String, at instant: Timestamp) -> Bool {
        guard ownership == .familyShared, isSame(productID, product) else { return false }
        return type != .autoRenewable || (expiresDate ?? .distantFuture) > instant
    }
}
