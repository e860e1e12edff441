internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import Service
internal import Storage
internal import Synchronization

/// What all threads of reconciliation share.
final class ReconciliationDesk: Sendable {
    /// The world around; tests put their own in its place.
    struct Surroundings: Sendable {
        /// The time of day.
        var now: @Sendable () -> Timestamp
        /// A number of 0 ..< 1, another each time.
        var fraction: @Sendable () -> Double
        /// Told what an operator must see; called by any thread of reconciliation.
        var onNotice: @Sendable (ReconciliationNotice) -> Void
    }

    let configuration: ReconciliationConfiguration
    let ledger: LedgerOperations
    let apple: AppleOperations
    let surroundings: Surroundings
    let counters = ReconciliationCounters()
    private let outages = Locked(Outages())
    private let hasGivenUp = Atomic(false)

    init(
        configuration: ReconciliationConfiguration, ledger: LedgerOperations,
        apple: AppleOperations, surroundings: Surroundings
    ) {
        self.configuration = configuration
        self.ledger = ledger
        self.apple = apple
        self.surroundings = surroundings
    }

    /// Whether the end has begun: what fails now has not failed.
    var isStopping: Bool { hasGivenUp.load(ordering: .acquiring) }

    /// Asks Apple nothing more.
    func giveUp() {
        hasGivenUp.store(true, ordering: .releasing)
        apple.giveUp()
    }

    var now: Timestamp { surroundings.now() }

    func tell(_ notice: ReconciliationNotice) { surroundings.onNotice(notice) }

    /// The world of a call.
    func scope(_ index: ScopeIndex) -> Scope {
        guard let scope = ledger.scopes.first(where: { $0.index == index })?.scope else {
            preconditionFailure("every scope index is of a configured world")
        }
        return scope
    }

    // MARK: Outages

    /// Until when a world is left alone; nil: it may be asked.
    func pausedUntil(_ scope: Scope, _ lane: Outages.Lane) -> Timestamp? {
        let now = now
        return outages.withLock { $0.pausedUntil(scope, lane, at: now) }
    }

    /// Apple has answered.
    func answered(_ scope: Scope, _ lane: Outages.Lane) {
        if outages.withLock({ $0.answered(scope, lane) }) { tell(.recovered(scope)) }
    }

    /// Apple has not answered as asked, in the background.
    func failed(
        _ error: AppStoreServerError, _ scope: Scope, _ lane: Outages.Lane
    ) -> Outages.Effect {
        if error.isFinal {
            answered(scope, lane)
            return .questionOnly
        }
        let (now, fraction) = (now, surroundings.fraction())
        let effect = outages.withLock {
            $0.failed(error, scope, lane, at: now, fraction: fraction)
        }
        if case .paused(let until, isNew: true) = effect {
            if case .unauthorized(let message) = error {
                tell(.unauthorized(scope, message: message))
            } else {
                tell(.paused(scope, until: until, message: error.message))
            }
        }
        return effect
    }

    /// Everything may be asked again.
    func forgetOutages() { outages.withLock { $0.clear() } }

    /// What was counted, with the state of the credentials.
    var counts: ReconciliationCounts {
        var counts = counters.value
        counts.unauthorizedScopes = outages.withLock(\.unauthorizedScopes)
        return counts
    }
}
