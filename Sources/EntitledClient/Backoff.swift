/// How long to wait before the next attempt.
struct Backoff: Equatable, Sendable {
    /// The wait after the first failure, in milliseconds.
    let firstMilliseconds: UInt64
    /// The longest wait, in milliseconds.
    let longestMilliseconds: UInt64

    init(_ configuration: ClientConfiguration) {
        firstMilliseconds = UInt64(configuration.firstBackoff.wireMilliseconds)
        longestMilliseconds = max(
            firstMilliseconds, UInt64(configuration.longestBackoff.wireMilliseconds))
    }

    /// The wait after `failureCount` failures in a row, at least 1: drawn from the upper half of
    /// the doubled step.
    func milliseconds(afterFailures failureCount: Int) -> UInt64 {
        precondition(failureCount >= 1)
        let doublingCount = min(failureCount - 1, 32)
        let step = min(longestMilliseconds, firstMilliseconds << UInt64(doublingCount))
        return UInt64.random(in: (step - step / 2)...step)
    }
}
