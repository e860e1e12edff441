internal import Synchronization

/// Who has the last word on a call that left its loop: the thread that carries it out, or the loop
/// that gives it up.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | waiting | `start` by the thread: verified, now to be committed; or a query begins | started |
/// | waiting | `abandon` by the loop: deadline, or the connection is gone | abandoned |
///
/// Both other states are final, so a client that was told DEADLINE_EXCEEDED by us finds nothing of
/// the call stored, but for remote ones; and what reached the commit thread is always answered with
/// its true outcome.
///
/// A remote call is started only when its answer is there: it may wait for Apple for a minute, and
/// its client must be able to stop waiting. What it has committed by then stays: facts that Apple
/// signed are as good without somebody who waits for them.
final class WorkClaim: Sendable {
    private enum State {
        static let waiting: UInt8 = 0
        static let started: UInt8 = 1
        static let abandoned: UInt8 = 2
    }

    private let state = Atomic(State.waiting)

    /// Takes the call for good.
    ///
    /// - Returns: false when the loop has given it up: drop it.
    func start() -> Bool { move(to: State.started) }

    /// Gives the call up.
    ///
    /// - Returns: false when it has been started: its answer will come.
    func abandon() -> Bool { move(to: State.abandoned) }

    /// Whether the loop has given it up; saves work that would be dropped.
    var isAbandoned: Bool { state.load(ordering: .acquiring) == State.abandoned }

    private func move(to target: UInt8) -> Bool {
        state.compareExchange(
            expected: State.waiting, desired: target, ordering: .acquiringAndReleasing
        ).exchanged
    }
}
