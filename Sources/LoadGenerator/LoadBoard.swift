internal import Synchronization

/// What the threads of a run and who watches it tell each other.
final class LoadBoard: Sendable {
    /// Threads whose connections stand.
    let readyCount = Atomic<Int>(0)
    /// When all begin, in nanoseconds; 0 = not yet known.
    let startNanoseconds = Atomic<UInt64>(0)
    /// Somebody wants the run to end, or one of the threads has failed.
    let isStopped = Atomic<Bool>(false)
    /// Answers so far, for the progress line; behind by up to 50 ms.
    let answerCount = Atomic<UInt64>(0)
    /// Threads that have ended.
    let endedCount = Atomic<Int>(0)
}

/// The part of a run that one thread has.
struct ThreadShare: Equatable, Sendable {
    /// Which thread, from 0.
    let index: Int
    /// Its connections, counted over all threads.
    let connections: Range<Int>
}

/// What one thread has measured.
struct ThreadOutcome: Sendable {
    var rounds: [LoadOutcome.Round] = []
    var slices: [UInt32] = []
    var answerCount: UInt64 = 0
    var wrongCount: UInt64 = 0
    var wrongAnswers: [WrongAnswer] = []
    var missingCount: UInt64 = 0
    var busyShare = 0.0
    var sendDelayNanosecondsMax: UInt64 = 0
    var unsentCount: UInt64 = 0
    var isInterrupted = false
}
