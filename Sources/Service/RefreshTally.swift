import Entitlements
import Synchronization

/// How fetches from Apple went since the start.
final class RefreshTally: Sendable {
    /// The counts at one moment.
    struct Counts: Hashable, Sendable {
        /// Whole answers that were applied.
        var succeeded: UInt64 = 0
        /// Attempts that failed.
        var failed: UInt64 = 0
        /// The last one of those.
        var lastFailure: RefreshFailure?
    }

    private let state = Mutex(Counts())

    init() {}

    /// The counts now.
    var counts: Counts { state.withLock { $0 } }

    /// Counts an event that was committed.
    func count(_ event: Event) {
        switch event.content {
        case .history(let history) where history.isWhole && !history.isDryRun:
            state.withLock { $0.succeeded += 1 }
        case .attempt(let attempt):
            state.withLock {
                $0.failed += 1
                $0.lastFailure = RefreshFailure(at: event.receivedAt, refusal: attempt.refusal)
            }
        case .notification, .upload, .link, .rebuild, .importing, .forget, .history, .queue, .mark,
            .usage:
            break
        }
    }
}
