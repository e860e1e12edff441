package import AppStore
package import Entitlements
package import Storage

/// Whom to ask Apple about, and what has to be there when the answer is applied.
package struct RefreshPlan: Hashable, Sendable {
    /// The customer.
    package var key: CustomerKey
    /// The world.
    package var scope: Scope
    /// One id to ask for per account or chain of the customer, in the order to ask: an account's
    /// appTransactionId where it is known, else the chain. What an answer has covered need not be
    /// asked for again.
    package var targets: [RefreshTarget]
    /// Whether he has an auto-renewable: then the statuses are asked for too.
    package var wantsStatuses: Bool
    /// The last committed revision when the plan was made: what was queued later stays queued.
    package var revision: UInt64

    /// A plan.
    package init(
        key: CustomerKey, scope: Scope, targets: [RefreshTarget], wantsStatuses: Bool,
        revision: UInt64
    ) {
        self.key = key
        self.scope = scope
        self.targets = targets
        self.wantsStatuses = wantsStatuses
        self.revision = revision
    }
}

/// An id that Apple can be asked about.
package struct RefreshTarget: Hashable, Sendable {
    /// An appTransactionId, or a transactionId where the account is not known.
    package var id: String
    /// The chains that the answer should cover.
    package var chains: [String]

    /// A target.
    package init(id: String, chains: [String]) {
        self.id = id
        self.chains = chains
    }
}

/// Where a sweep over a world stands.
package struct SweepPage: Hashable, Sendable {
    /// Customers with an active family copy who were not fetched lately.
    package var due: [CustomerKey]
    /// How many customers were looked at.
    package var customerCount: Int
    /// Where the next page starts; nil after the last.
    package var next: UInt64?
}

extension EntitlementService {
    /// What verifies; for those who read Apple's answers.
    package var signedDataVerifier: SignedDataVerifier { verifier }

    /// The event that applies a whole answer of Apple's: merges, recomputes, takes the customer out
    /// of the queue. A dry run says what would change, and changes nothing.
    ///
    /// Its reply is `.rebuild`; it is refused with UNKNOWN_CUSTOMER when the customer has gone, and
    /// with MIXED_SCOPE when the history is of another world than the plan.
    package func event(
        applying history: AppleHistory, by plan: RefreshPlan, isDryRun: Bool
    ) -> Event {
        event(
            .history(
                Event.History(history: history, plan: plan, isWhole: true, isDryRun: isDryRun)))
    }

    /// The event that keeps the verified facts of an answer that broke off: nothing else changes,
    /// the customer stays queued. Its reply is `.rebuild` as well.
    package func event(keeping history: AppleHistory, by plan: RefreshPlan) -> Event {
        event(
            .history(Event.History(history: history, plan: plan, isWhole: false, isDryRun: false)))
    }

    /// The event that notes a failed attempt; a customer who has gone leaves the queue by it.
    package func event(
        noting refusal: Refusal, of key: CustomerKey, notBefore: Timestamp
    ) -> Event {
        event(.attempt(Event.Attempt(key: key, refusal: refusal, notBefore: notBefore)))
    }

    /// The event that queues customers; refused with APP_STORE_NOT_CONFIGURED where nobody would
    /// fetch them.
    package func event(queueing keys: [CustomerKey], for trigger: RefreshTrigger) -> Event {
        event(.queue(keys, trigger))
    }

    /// The event that moves a mark; never backwards.
    package func event(
        moving mark: ReconciliationMark, of scope: ScopeIndex, to instant: Timestamp
    ) -> Event {
        event(.mark(mark, world(scope).number, instant))
    }

    /// Where a mark stands; nil before the first time.
    package func mark(
        _ mark: ReconciliationMark, of scope: ScopeIndex
    ) throws(Refusal) -> Timestamp? {
        do throws(StorageError) {
            return try store.mark(mark, of: world(scope).number)
        } catch {
            throw Refusal(error)
        }
    }

    /// Every configured world, in the order of `ScopeIndex`.
    package var scopes: [(index: ScopeIndex, scope: Scope)] {
        worlds.indices.map { (ScopeIndex(value: $0), worlds[$0].scope) }
    }

    /// The world of a customer's key; nil when it is configured no more.
    package func scopeIndex(of key: CustomerKey) -> ScopeIndex? {
        worlds.firstIndex { $0.number == key.scope }.map { ScopeIndex(value: $0) }
    }
}
