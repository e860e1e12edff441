/// What a run has measured.
package struct LoadOutcome: Equatable, Sendable {
    /// One round.
    package struct Round: Equatable, Sendable {
        /// How long it was, in seconds.
        package var seconds: Double
        /// Answers that came in it.
        package var answerCount: UInt64
        /// Answers to checks in them: a batch answers many at once.
        package var checkCount: UInt64
        /// Latencies from the intended send time.
        package var latencies: Histogram

        /// Answers per second.
        package var answersPerSecond: Double { seconds > 0 ? Double(answerCount) / seconds : 0 }
        /// Checks per second.
        package var checksPerSecond: Double { seconds > 0 ? Double(checkCount) / seconds : 0 }
    }

    /// In order; an interrupted run has fewer, and the last one may be shorter.
    package var rounds: [Round]
    /// Answers per 100 ms, from the first round on.
    package var slices: [UInt32]
    /// All answers, those of the warm-up and after the end among them.
    package var answerCountEver: UInt64
    /// Wrong ones among all answers.
    package var wrongCount: UInt64
    /// The first of them.
    package var wrongAnswers: [WrongAnswer]
    /// Requests without an answer 10 s after the end.
    package var missingCount: UInt64
    /// The largest share of a processor that a thread of the generator used, from 0 to 1; waiting
    /// by polling is not counted.
    package var generatorBusyShare: Double
    /// Open loop: the longest time by which a request left later than intended, in nanoseconds.
    package var sendDelayNanosecondsMax: UInt64
    /// Open loop: requests of the schedule that were not sent when the last round ended.
    package var unsentCount: UInt64
    /// Whether somebody stopped it.
    package var isInterrupted: Bool

    /// Latencies of all rounds.
    package var latencies: Histogram {
        var merged = Histogram()
        for round in rounds { merged.merge(round.latencies) }
        return merged
    }

    /// Whether every answer was right and none is missing.
    package var isRight: Bool { wrongCount == 0 && missingCount == 0 }
}
