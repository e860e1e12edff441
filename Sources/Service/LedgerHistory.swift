import AppStore
import Entitlements
import Storage

// What Apple's servers said of a customer, taken in like any other facts: of several copies the one
// signed last counts, and what an answer leaves out stays. So no answer, whole or cut, can take
// anything away that a newer signature did not take away.

extension Ledger {
    /// Takes in an answer.
    mutating func apply(
        _ event: Event.History, at clock: Timestamp
    ) throws(LedgerFailure) -> RebuildReply {
        try apply(isDryRun: event.isDryRun, \.revision) { (ledger) throws(LedgerFailure) in
            try ledger.take(event, at: clock)
        }
    }

    private mutating func take(
        _ event: Event.History, at clock: Timestamp
    ) throws(LedgerFailure) -> RebuildReply {
        let scope = try number(of: event.plan.scope)
        guard event.history.scope == event.plan.scope, event.plan.key.scope == scope else {
            throw .refused(
                Refusal(.mixedScope, "the history is of another app or environment than asked"))
        }
        guard let asked = try workspace.standing(event.plan.key) else {
            throw .refused(Refusal(.unknownCustomer, "the customer is there no more"))
        }
        let revision = workspace.revision
        let learnt = workspace.learntFactCount
        let wrong = try wrongAnswers(of: asked, at: clock)
        let (renewals, strays) = try tied(event.history, in: scope)
        var changes = try place(event.history, renewals, asked: asked, in: scope, at: clock)
        let key = try workspace.customer(asked).key
        if let wrong { try repair(key, wrong, from: revision, &changes, at: clock) }
        try conclude(event, of: key, at: clock)
        let news = workspace.learntFactCount - learnt
        // A sweep that brings the same facts, signed anew, is no event in anybody's life.
        if workspace.revision > revision, news > 0 || !changes.isEmpty {
            workspace.audit(
                "REBUILT", of: key,
                detail: "from \(event.isWhole ? "the" : "a part of the") App Store's history, "
                    + "items: \(event.history.itemCount), new or changed: \(news), "
                    + "answers changed: \(changes.count)",
                at: clock)
        }
        return try reply(event.history, strays, changes, of: key, at: clock)
    }

    /// Places the facts with their customers: the one who was asked about gets what is nobody
    /// else's, and nobody's chain is taken from him by it.
    private mutating func place(
        _ history: AppleHistory, _ tied: [SignedRenewal], asked: CustomerKey,
        in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) -> [EntitlementChange] {
        let (incoming, renewals, nameless) = try workspace.divided(
            history.incoming, tied, asked: asked, in: scope)
        let statuses = history.statuses.filter(\.isActive)
        var involved = try workspace.related(
            to: carriedIdentities(
                incoming + nameless.incoming, renewals + nameless.renewals)
                + statuses.map { Identity(.transaction, $0.transactionID) },
            in: scope)
        involved.insert(asked)
        return try change(involved, at: clock, countsReasons: true) {
            (ledger) throws(LedgerFailure) in
            try ledger.workspace.place(nameless, in: scope, at: clock)
            _ = try ledger.workspace.place(
                incoming, renewals: renewals, in: scope, claimant: asked, at: clock)
            try ledger.note(statuses, in: scope)
            try ledger.queueFamilies(sparing: asked, in: scope, at: clock)
        }
    }

    /// Active statuses whose transaction did not come along but is stored.
    private mutating func note(
        _ statuses: [AppleHistory.ChainStatus], in scope: ScopeNumber
    ) throws(LedgerFailure) {
        for status in statuses {
            let identity = Identity(.transaction, status.transactionID)
            for key in try workspace.related(to: [identity], in: scope) {
                try workspace.note(activeStatus: status, of: key)
            }
        }
    }

    /// The renewal infos that a transaction ties to the app, and a refusal for each other one.
    private mutating func tied(
        _ history: AppleHistory, in scope: ScopeNumber
    ) throws(LedgerFailure) -> ([SignedRenewal], [Refusal]) {
        let chains = Set(
            history.transactions.map { ExactName($0.transaction.originalTransactionID) })
        var tied: [SignedRenewal] = []
        var strays: [Refusal] = []
        for renewal in history.renewals {
            let chain = renewal.renewal.originalTransactionID
            let isCarried = chains.contains(chain)
            let isTied = isCarried ? true : try workspace.isStored(chain: chain, in: scope)
            if isTied {
                tied.append(renewal)
            } else {
                strays.append(
                    Refusal(
                        .renewalMismatch, "renewal info of chain \(chain) without a transaction"))
            }
        }
        return (tied, strays)
    }

    /// What follows for the queue: a whole answer ends the job, unless something asked again since
    /// the fetch was planned.
    private mutating func conclude(
        _ event: Event.History, of key: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) {
        guard event.isWhole else { return }
        workspace.setRefreshedAt(clock, of: key)
        guard var job = try workspace.refreshJob(of: key) else { return }
        if job.revision <= event.plan.revision {
            workspace.setRefreshJob(nil, of: key)
        } else if job.attempts > 0 {
            job.attempts = 0
            job.lastReason = ""
            job.lastMessage = ""
            job.notBefore = clock
            workspace.setRefreshJob(job, of: key)
        }
    }

    private mutating func reply(
        _ history: AppleHistory, _ strays: [Refusal], _ changes: [EntitlementChange],
        of key: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) -> RebuildReply {
        let fold = try workspace.fold(key)
        let problems = history.problems.map { problem in
            let refusal = Refusal(problem.error)
            return Refusal(refusal.reason, "\(problem.place): \(refusal.message)")
        }
        return RebuildReply(
            source: .appStore, transactionCount: history.itemCount, changes: changes,
            entitlements: fold.statuses(
                catalog: catalogs[key.scope] ?? Catalog(), at: fold.now(clock)),
            revision: workspace.revision, problems: problems + strays)
    }
}

// MARK: - Snapshots that are not what the facts say

extension Ledger {
    /// The answers of the customer's stored snapshot where it is not the one that his facts give:
    /// damaged, or written by a release with a mistake in it. Nil when all is well.
    private mutating func wrongAnswers(
        of key: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) -> StoredAnswers? {
        let state = try workspace.customer(key)
        let fold = try workspace.fold(key)
        let stored = try reading { () throws(StorageError) in
            try workspace.store.value(
                for: Key.snapshot(of: state.key, named: state.record.name), in: .snapshots) ?? []
        }
        let expected = try workspace.snapshot(of: key).bytes
        // An earlier event of the group has a snapshot to write that is not stored yet.
        guard !state.isDirty, stored != expected else { return nil }
        return StoredAnswers(
            snapshot: stored, catalog: catalogs[key.scope] ?? Catalog(), at: fold.now(clock))
    }

    private mutating func repair(
        _ key: CustomerKey, _ wrong: StoredAnswers, from revision: UInt64,
        _ changes: inout [EntitlementChange], at clock: Timestamp
    ) throws(LedgerFailure) {
        let fold = try workspace.fold(key)
        let name = workspace.customers[key]?.displayName ?? ""
        changes.removeAll { isSame($0.customerID, name) }
        changes += wrong.changes(
            to: fold, of: name, catalog: catalogs[key.scope] ?? Catalog(), at: fold.now(clock))
        if workspace.revision == revision { workspace.beginRevision() }
        workspace.customers[key]?.isDirty = true
        workspace.customers[key]?.record.revision = workspace.revision
    }
}

extension AppleHistory {
    /// The copies, each with the status that came with it.
    ///
    /// A status says that its chain's current transaction, the one that came with it, gives access.
    /// It says nothing of an older one: a departure from an earlier period stays one, or the rest
    /// of that period would give access once the later one is revoked as well.
    var incoming: [IncomingTransaction] {
        var evidence: [ExactName: Evidence] = [:]
        for status in statuses where status.isActive {
            var active = Evidence()
            active.activeStatus = status.signedDate
            evidence[status.transactionID, default: Evidence()].merge(active)
        }
        return transactions.map {
            IncomingTransaction(
                $0, evidence: evidence[$0.transaction.transactionID] ?? Evidence())
        }
    }
}

extension AppleHistory.ChainStatus {
    /// Whether it gives access: active, or in grace.
    var isActive: Bool { status == 1 || status == 4 }
}

extension Workspace {
    /// Adds an active status to a stored transaction.
    mutating func note(
        activeStatus status: AppleHistory.ChainStatus, of key: CustomerKey
    ) throws(LedgerFailure) {
        guard var fact = try fact(status.transactionID, of: key) else { return }
        var evidence = Evidence()
        evidence.activeStatus = status.signedDate
        let known = fact.evidence
        fact.evidence.merge(evidence)
        guard fact.evidence != known else { return }
        customers[key]?.put(fact)
    }
}
