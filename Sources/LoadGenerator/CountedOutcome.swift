extension LoadOutcome {
    /// What a workload has counted that drives the server by itself, as one round.
    ///
    /// - Parameters:
    ///   - seconds: how long it was.
    ///   - answerCount: all answers.
    ///   - checkCount: answers to checks among them.
    ///   - latencies: of those that were timed.
    ///   - wrongAnswers: one sentence each.
    package init(
        seconds: Double, answerCount: UInt64, checkCount: UInt64, latencies: Histogram,
        wrongAnswers: [String]
    ) {
        self.init(
            rounds: [
                Round(
                    seconds: seconds, answerCount: answerCount, checkCount: checkCount,
                    latencies: latencies)
            ],
            slices: [], answerCountEver: answerCount, wrongCount: UInt64(wrongAnswers.count),
            wrongAnswers: wrongAnswers.prefix(LoadTally.wrongKeptCountMax).map {
                WrongAnswer(what: $0, expected: [], found: [])
            },
            missingCount: 0, generatorBusyShare: 0, sendDelayNanosecondsMax: 0, unsentCount: 0,
            isInterrupted: false)
    }
}
