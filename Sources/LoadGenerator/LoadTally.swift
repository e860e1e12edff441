/// What one thread of the generator has counted.
struct LoadTally {
    /// So many wrong answers are kept; all are counted.
    static let wrongKeptCountMax = 5

    /// No latency is recorded of requests that were meant to be sent before, in nanoseconds.
    var measuredFrom: UInt64 = .max
    /// The latencies of the running round.
    var latencies = Histogram()
    /// All answers, of the warm-up too.
    private(set) var answerCount: UInt64 = 0
    /// Answers to checks in them.
    private(set) var checkCount: UInt64 = 0
    /// Wrong answers, of the warm-up too.
    private(set) var wrongCount: UInt64 = 0
    /// The first of them.
    private(set) var wrongAnswers: [WrongAnswer] = []

    /// Counts one answer.
    @inline(__always)
    mutating func record(intended: UInt64, now: UInt64, _ checks: Int) {
        answerCount &+= 1
        checkCount &+= UInt64(checks)
        if intended >= measuredFrom { latencies.record(now > intended ? now - intended : 0) }
    }

    /// Counts a wrong answer, and keeps it when it is one of the first.
    mutating func wrong(_ answer: WrongAnswer) {
        wrongCount += 1
        if wrongAnswers.count < Self.wrongKeptCountMax { wrongAnswers.append(answer) }
    }
}
