import Entitlements
import Storage

/// Applies events, one after the other, to a workspace: the only code that changes state.
///
/// Given the same state and the same events it gives the same state: the clock in it is the
/// event's.
struct Ledger<Store: EntitlementReader & Sendable> {
    var workspace: Workspace<Store>
    let scopes: [Scope: ScopeNumber]
    let catalogs: [ScopeNumber: Catalog]

    /// Applies one event.
    ///
    /// - Throws: `.refused` with nothing changed; `.storage` when the workspace must be dropped.
    mutating func apply(_ event: Event) throws(LedgerFailure) -> WriteReply {
        switch event.content {
        case .notification(let notification, let payload):
            .notification(try apply(notification, payload: payload, at: event.receivedAt))
        case .upload(let upload):
            try apply(upload, at: event.receivedAt)
        case .link(let link):
            try apply(link, at: event.receivedAt)
        case .rebuild(let rebuild):
            .rebuild(try apply(rebuild, at: event.receivedAt))
        case .importing(let batch):
            .imported(try apply(batch, at: event.receivedAt))
        case .forget(let forget):
            .forgotten(try apply(forget, at: event.receivedAt))
        case .usage(let usage):
            try apply(usage)
        case .history(let history):
            .rebuild(try apply(history, at: event.receivedAt))
        case .queue(let keys, let trigger):
            try queue(keys, for: trigger, at: event.receivedAt)
        case .attempt(let attempt):
            try note(attempt)
        case .mark(let mark, let scope, let instant):
            try move(mark, of: scope, to: instant)
        }
    }

    func number(of scope: Scope) throws(LedgerFailure) -> ScopeNumber {
        guard let number = scopes[scope] else {
            throw .refused(
                Refusal(.unknownScope, "\(scope.bundleID) is not configured for this environment"))
        }
        return number
    }
}

// MARK: - Notifications

extension Ledger {
    private mutating func apply(
        _ notification: Notification, payload: [UInt8], at clock: Timestamp
    ) throws(LedgerFailure) -> NotificationReply {
        let scope = try number(of: notification.scope)
        let uuid = notification.notificationUUID
        var reply = NotificationReply(
            notificationUUID: uuid, type: notification.type, subtype: notification.subtype,
            disposition: .duplicate, changes: [], revision: workspace.revision)
        if let revision = try workspace.revision(ofNotification: uuid, in: scope) {
            reply.revision = revision
            return reply
        }
        let incoming = try workspace.nameless(notification.incoming, in: scope)
        let renewals = try workspace.nameless(
            notification.renewal.map { [$0] } ?? [], in: scope)
        try requireKnownChains(renewals, incoming, in: scope)
        let isNameless = try workspace.isNameless(notification, in: scope)
        let changes = try change(incoming, renewals, in: scope, at: clock) {
            (ledger) throws(LedgerFailure) in
            // What names a forgotten customer is not kept; the part of another one in it stands by
            // itself then.
            ledger.workspace.payloadRevision = isNameless ? 0 : ledger.workspace.revision
            let isNew = try ledger.workspace.place(
                incoming, renewals: renewals, in: scope, at: clock)
            let isQueued = try ledger.queueRefreshes(after: notification, in: scope, at: clock)
            reply.disposition = notification.disposition(isNew: isNew, isQueued: isQueued)
            try ledger.store(
                notification, payload: isNameless ? [] : payload, disposition: reply.disposition,
                in: scope, at: clock)
        }
        reply.changes = changes
        reply.revision = workspace.revision
        return reply
    }

    /// Renewal info names no app: it is believed only with a transaction that does.
    private mutating func requireKnownChains(
        _ renewals: [SignedRenewal], _ incoming: [IncomingTransaction], in scope: ScopeNumber
    ) throws(LedgerFailure) {
        let known = Set(incoming.map { ExactName($0.signed.transaction.originalTransactionID) })
        for renewal in renewals {
            let chain = renewal.renewal.originalTransactionID
            if known.contains(chain) { continue }
            if try workspace.isStored(chain: chain, in: scope) { continue }
            throw .refused(
                Refusal(
                    .renewalMismatch,
                    "renewal info of chain \(chain) came without a transaction of it, and none "
                        + "is stored for this app"))
        }
    }

    private mutating func store(
        _ notification: Notification, payload: [UInt8], disposition: Disposition,
        in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) {
        let revision = workspace.revision
        let uuid = notification.notificationUUID
        let record = NotificationRecord(
            notification: notification, receivedAt: clock, disposition: disposition,
            revision: revision)
        workspace.storedUUIDs[scope, default: [:]][uuid] = revision
        workspace.appended.put(
            RecordCodec.encode(revision), for: Key.notification(uuid: uuid, in: scope),
            in: .notifications)
        workspace.appended.put(
            payload, for: Key.payload(.notification(revision: revision), in: scope),
            in: .payloads)
        let bytes = RecordCodec.encode(record)
        let claimants = try workspace.claimants(of: notification.identities, in: scope)
        if claimants.isEmpty {
            let key = Key.notification(revision: revision, in: scope)
            workspace.appended.put(bytes, for: key, in: .notifications)
        }
        for key in claimants {
            workspace.noteHistory(key, bytes)
            if notification.isIgnoredRevoke {
                workspace.audit(
                    "DATELESS_REVOKE_IGNORED", of: key,
                    detail: "REVOKE \(uuid) names a transaction that is not FAMILY_SHARED and "
                        + "carries no revocationDate",
                    at: clock)
            }
        }
    }
}

extension Notification {
    /// The carried copy with what the notification says beyond it.
    var incoming: [IncomingTransaction] {
        guard let transaction else { return [] }
        var evidence = Evidence()
        if isGrant { evidence.grantNotification = signedDate }
        if status == 1 || status == 4 { evidence.activeStatus = signedDate }
        if isRevoke && transaction.transaction.revocationDate == nil {
            evidence.datelessRevoke = signedDate
        }
        return [IncomingTransaction(transaction, evidence: evidence)]
    }

    /// Whether it is a REVOKE that changes nothing: undated, of a purchase.
    var isIgnoredRevoke: Bool {
        guard isRevoke, let transaction = transaction?.transaction else { return false }
        return transaction.revocationDate == nil && transaction.ownership != .familyShared
    }

    /// The names of whom it concerns.
    var identities: [Identity] {
        if let transaction {
            return [Identity(.transaction, transaction.transaction.transactionID)]
        }
        return renewal.map {
            [Identity(.originalTransaction, $0.renewal.originalTransactionID)]
        } ?? []
    }

    /// What became of it, given whether what it carried was new.
    func disposition(isNew: Bool, isQueued: Bool) -> Disposition {
        if isUnknown { return .storedUnknown }
        if isUnsigned { return isQueued ? .applied : .noEffect }
        if transaction == nil && renewal == nil { return .noEffect }
        return isNew ? .applied : .stale
    }
}

// MARK: - Uploads

extension Ledger {
    private mutating func apply(
        _ upload: Event.Upload, at clock: Timestamp
    ) throws(LedgerFailure) -> WriteReply {
        let scope = try number(of: upload.scope)
        var incoming = upload.transactions.map { IncomingTransaction($0) }
        var renewals = upload.renewals
        if upload.customerID.isEmpty {
            incoming = try workspace.nameless(incoming, in: scope)
            renewals = try workspace.nameless(renewals, in: scope)
        }
        try requireKnownChains(renewals, incoming, in: scope)
        let chains = Set(
            upload.transactions.map {
                Identity(.originalTransaction, $0.transaction.originalTransactionID)
            }
        ).sorted()
        let account = upload.appTransactionID.map { Identity(.appTransaction, $0) }
        let owner = try named(upload.customerID, in: scope)
        let isTransfer = try isMoved(upload.isTransfer, onConflict: upload.transfersOnConflict) {
            (ledger) throws(LedgerFailure) in
            guard !upload.customerID.isEmpty else { return }
            try ledger.requireUnclaimed(upload, account: account, owner: owner, in: scope)
        }
        let changes = try change(
            incoming, renewals, in: scope, at: clock, touching: owner, and: account
        ) {
            [incoming, renewals]
            (ledger) throws(LedgerFailure) in
            guard !upload.customerID.isEmpty else {
                return try ledger.placeApart(incoming, renewals, in: scope, at: clock)
            }
            let claimant =
                owner ?? ledger.workspace.makeCustomer(name: upload.customerID, in: scope)
            let apart = account.map { [$0] } ?? []
            for identity in chains + apart {
                try ledger.assign(identity, to: claimant, isTransfer: isTransfer, at: clock)
            }
            _ = try ledger.workspace.place(
                incoming, renewals: renewals, in: scope, claimant: claimant,
                alsoNamed: apart, at: clock)
            try ledger.queueFamilies(in: scope, at: clock)
        }
        return .transactions(changes: changes, revision: workspace.revision)
    }

    /// Stores what nobody was named for, one by one: that strangers' transactions came in one call
    /// makes them no one person; what shares an identity finds itself.
    private mutating func placeApart(
        _ incoming: [IncomingTransaction], _ renewals: [SignedRenewal], in scope: ScopeNumber,
        at clock: Timestamp
    ) throws(LedgerFailure) {
        for copy in incoming {
            _ = try workspace.place([copy], renewals: [], in: scope, at: clock)
        }
        for renewal in renewals {
            _ = try workspace.place([], renewals: [renewal], in: scope, at: clock)
        }
        try queueFamilies(in: scope, at: clock)
    }

    /// Whether something is to be moved: because the call says so, or because `check` finds it to
    /// be another named customer's and that is no reason to refuse.
    mutating func isMoved(
        _ isSaid: Bool, onConflict transfers: Bool,
        _ check: (inout Ledger) throws(LedgerFailure) -> Void
    ) throws(LedgerFailure) -> Bool {
        guard !isSaid else { return true }
        do throws(LedgerFailure) {
            try check(&self)
            return false
        } catch {
            guard transfers, case .refused(let refusal) = error,
                refusal.reason == .identityConflict
            else { throw error }
            return true
        }
    }

    /// Refuses what is another named customer's.
    private mutating func requireUnclaimed(
        _ upload: Event.Upload, account: Identity?, owner: CustomerKey?, in scope: ScopeNumber
    ) throws(LedgerFailure) {
        for signed in upload.transactions {
            let transaction = signed.transaction
            let chain = Identity(.originalTransaction, transaction.originalTransactionID)
            let holders = try workspace.claimants(
                of: [chain, Identity(.transaction, transaction.transactionID)], in: scope)
            try requireFree(holders, owner: owner, "chain \(chain.value)")
            guard holders.isEmpty else { continue }
            if let token = transaction.appAccountToken {
                let holders = try workspace.claimants(
                    of: [Identity(.appAccountToken, token)], in: scope)
                try requireFree(holders, owner: owner, "its appAccountToken")
                if !workspace.named(holders).isEmpty { continue }
            }
            if let id = transaction.appTransactionID {
                let holders = try workspace.claimants(
                    of: [Identity(.appTransaction, id)], in: scope)
                let isShared = owner.map(holders.contains) ?? false
                if !isShared { try requireFree(holders, owner: owner, "appTransactionId \(id)") }
            }
        }
        if let account {
            let holders = try workspace.claimants(of: [account], in: scope)
            try requireFree(holders, owner: owner, "appTransactionId \(account.value)")
        }
    }

    /// - Throws: IDENTITY_CONFLICT when a named customer other than `owner` is among `holders`.
    func requireFree(
        _ holders: Set<CustomerKey>, owner: CustomerKey?, _ what: String
    ) throws(LedgerFailure) {
        guard workspace.named(holders).contains(where: { $0 != owner }) else { return }
        throw .refused(
            Refusal(
                .identityConflict,
                "\(what) belongs to another customer; ask with transfer to move it"))
    }

    /// The customer of this name; nil when nothing is known under it.
    mutating func named(
        _ name: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> CustomerKey? {
        guard !name.isEmpty else { return nil }
        return try workspace.claimants(of: [Identity(.customer, name)], in: scope).first
    }
}

// MARK: - Dry runs

extension Ledger {
    /// Does something; a dry run does it on a copy of the ledger that is then dropped, and its
    /// reply has the revision of before.
    mutating func apply<Reply>(
        isDryRun: Bool, _ revision: WritableKeyPath<Reply, UInt64>,
        _ take: (inout Ledger) throws(LedgerFailure) -> Reply
    ) throws(LedgerFailure) -> Reply {
        guard isDryRun else { return try take(&self) }
        var rehearsal = self
        var reply = try take(&rehearsal)
        reply[keyPath: revision] = workspace.revision
        return reply
    }
}

// MARK: - Rebuilds

extension Ledger {
    private mutating func apply(
        _ rebuild: Event.Rebuild, at clock: Timestamp
    ) throws(LedgerFailure) -> RebuildReply {
        let scope = try number(of: rebuild.scope)
        if let reply = try rehearsedReply(to: rebuild, in: scope) { return reply }
        let record = try workspace.identity(rebuild.identity, in: scope)
        guard record.primary != 0 else {
            throw .refused(Refusal(.unknownCustomer, "nothing is known under this name"))
        }
        let key = try workspace.customer(CustomerKey(scope: scope, number: record.primary)).key
        // An earlier event of the group has changed him, and told what: what is stored is not what
        // anybody will see. How events are grouped must not show.
        let isRewritten = workspace.customers[key]?.isDirty == true
        if !rebuild.isDryRun { try repairMatches(of: key, at: clock) }
        let state = try workspace.customer(key)
        let fold = try workspace.fold(state.key)
        let snapshot = try workspace.snapshot(of: state.key).bytes
        let stored = isRewritten ? snapshot : try storedSnapshot(of: state)
        let catalog = catalogs[scope] ?? Catalog()
        let now = fold.now(clock)
        let before = StoredAnswers(snapshot: stored, catalog: catalog, at: now)
        let changes = before.changes(to: fold, of: state.displayName, catalog: catalog, at: now)
        if !rebuild.isDryRun && stored != snapshot {
            workspace.beginRevision()
            workspace.customers[state.key]?.isDirty = true
            workspace.customers[state.key]?.record.revision = workspace.revision
            workspace.audit(
                "REBUILT", of: state.key, detail: "\(changes.count) answers changed", at: clock)
        }
        if !rebuild.isDryRun { try workspace.repairEndings(of: state.key, fold, at: clock) }
        return RebuildReply(
            source: .storedFacts, transactionCount: state.transactions.count, changes: changes,
            entitlements: fold.statuses(catalog: catalog, at: now),
            revision: workspace.revision)
    }

    private func storedSnapshot(of state: CustomerState) throws(LedgerFailure) -> [UInt8] {
        try reading { () throws(StorageError) in
            try workspace.store.value(
                for: Key.snapshot(of: state.key, named: state.record.name), in: .snapshots) ?? []
        }
    }
}
