internal import Synchronization

/// Whether a loop answers when it is asked.
final class LoopPulse: Sendable {
    /// When the question was asked that is not answered yet, in milliseconds of the monotonic
    /// clock; 0 = none is.
    private let askedAt = Atomic<UInt64>(0)

    /// Notes that the loop is to be asked.
    ///
    /// - Returns: false when an earlier question waits: a loop that stands still is not sent more.
    func ask(atMilliseconds now: UInt64) -> Bool {
        askedAt.compareExchange(expected: 0, desired: max(1, now), ordering: .relaxed).exchanged
    }

    /// The loop answers.
    func answer() { askedAt.store(0, ordering: .relaxed) }

    /// For how long a question has waited; 0 when none does.
    func unansweredMilliseconds(atMilliseconds now: UInt64) -> UInt64 {
        let asked = askedAt.load(ordering: .relaxed)
        return asked > 0 && now > asked ? now - asked : 0
    }
}
