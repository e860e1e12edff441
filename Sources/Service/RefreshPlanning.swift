package import Entitlements
package import Storage

extension Workspace {
    /// What has to be asked of Apple to know all of a customer's history.
    ///
    /// One question per Apple Account, for an account's history holds all of its chains; chains
    /// that no account is known of are asked for one by one, unless an answer has covered them.
    mutating func refreshPlan(
        for state: CustomerState, in scope: Scope, revision: UInt64
    ) throws(LedgerFailure) -> RefreshPlan {
        var accounts: [ExactName: Set<ExactName>] = [:]
        var chains: Set<ExactName> = state.hinted
        for fact in state.transactions.values {
            let chain = ExactName(fact.transaction.originalTransactionID)
            if let account = fact.transaction.appTransactionID {
                accounts[account, default: []].insert(chain)
            }
            chains.insert(chain)
        }
        for identity in state.said.sorted() {
            let record = try self.identity(identity, in: state.key.scope)
            // Somebody else may have got it since.
            let owner = record.moved == 0 ? record.said : record.moved
            guard owner == state.key.number else { continue }
            switch identity.kind {
            case .appTransaction: accounts[identity.value, default: []].formUnion([])
            case .originalTransaction: chains.insert(identity.value)
            case .customer, .appAccountToken, .transaction: break
            }
        }
        let covered = accounts.values.reduce(into: Set()) { $0.formUnion($1) }
        let targets =
            accounts.sorted { $0.key < $1.key }.map { account, chains in
                RefreshTarget(id: account.text, chains: chains.sorted().map(\.text))
            }
            + chains.subtracting(covered).sorted().map { chain in
                RefreshTarget(id: chain.text, chains: [chain.text])
            }
        // Of somebody without facts nobody knows what he has.
        let wantsStatuses =
            state.transactions.isEmpty
            || state.transactions.values.contains { $0.transaction.type == .autoRenewable }
        return RefreshPlan(
            key: state.key, scope: scope, targets: targets, wantsStatuses: wantsStatuses,
            revision: revision)
    }
}

extension EntitlementService {
    /// What a call to rebuild from Apple has to fetch.
    ///
    /// - Throws: UNKNOWN_CUSTOMER, STORE_UNAVAILABLE, STORE_DAMAGED.
    package func refreshPlan(for request: RebuildRequest) throws(Refusal) -> RefreshPlan {
        try readingStore { (workspace, revision) throws(LedgerFailure) in
            let world = world(request.scope)
            let record = try workspace.identity(Identity(request.customer), in: world.number)
            guard record.primary != 0 else {
                throw .refused(Refusal(.unknownCustomer, "nothing is known under this name"))
            }
            let state = try workspace.customer(
                CustomerKey(scope: world.number, number: record.primary))
            return try workspace.refreshPlan(for: state, in: world.scope, revision: revision)
        }
    }

    /// What a queued job has to fetch; nil when the customer has gone, for one merged into another.
    package func refreshPlan(for key: CustomerKey) throws(Refusal) -> RefreshPlan? {
        guard let scope = scopeIndex(of: key) else { return nil }
        return try readingStore { (workspace, revision) throws(LedgerFailure) in
            guard try workspace.standing(key) == key else { return nil }
            let state = try workspace.customer(key)
            return try workspace.refreshPlan(
                for: state, in: world(scope).scope, revision: revision)
        }
    }

    /// The jobs whose time has come, oldest first, the sweep's after all others; and when the next
    /// one comes that is not among them.
    ///
    /// - Parameters:
    ///   - scope: The world; nil: one configured world after the other.
    ///   - now: By the wall clock.
    ///   - countMax: The most to give.
    /// - Returns: The jobs and the instant.
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    package func dueRefreshes(
        in scope: ScopeIndex? = nil, at now: Timestamp, countMax: Int
    ) throws(Refusal) -> (due: [QueuedRefresh], nextAt: Timestamp?) {
        var keys: [CustomerKey] = []
        var nextAt: Timestamp?
        for world in scope.map({ [world($0)] }) ?? worlds {
            let found = refreshQueue.due(
                in: world.number, at: now, countMax: countMax - keys.count)
            keys += found.keys
            nextAt = [nextAt, found.nextAt].compactMap(\.self).min()
        }
        let due = try readingStore { (workspace, _) throws(LedgerFailure) in
            var due: [QueuedRefresh] = []
            for key in keys {
                guard let job = try workspace.refreshJob(of: key) else { continue }
                due.append(try workspace.queued(job, of: key))
            }
            return due
        }
        return (due, nextAt)
    }
}

extension Workspace {
    /// A job with the name that people know its customer by.
    mutating func queued(
        _ job: RefreshJob, of key: CustomerKey
    ) throws(LedgerFailure) -> QueuedRefresh {
        let name = try standing(key).map { (key) throws(LedgerFailure) in
            try customer(key).displayName
        }
        return QueuedRefresh(key: key, customerID: name ?? "", job: job)
    }
}
