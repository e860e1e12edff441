internal import Synchronization

extension LoadDriver where Dialogue: ~Copyable {
    /// Goes from the warm-up to the first round, from round to round, and to the end.
    mutating func turnRound() {
        if board.isStopped.load(ordering: .relaxed) {
            outcome.isInterrupted = true
            isSending = false
            if clock.isMeasuring { close(clock.endRound(at: now)) }
            return endMeasuring()
        }
        switch clock.turn(at: now) {
        case .none: break
        case .measuring: beginMeasuring()
        case .round(let nanoseconds, let isLast):
            close(.round(nanoseconds: nanoseconds, isLast: isLast))
            guard isLast else { break }
            isSending = false
            endMeasuring()
        }
    }

    private mutating func beginMeasuring() {
        roundAnswerCount = unsafe tally.pointee.answerCount
        roundCheckCount = unsafe tally.pointee.checkCount
        threadTimeAtStart = LoadClock.threadTime
        measuredAt = now
    }

    /// Puts the running round away.
    private mutating func close(_ turn: RoundClock.Turn) {
        guard case .round(let nanoseconds, _) = turn, nanoseconds > 0 else { return }
        let answers = unsafe tally.pointee.answerCount
        let checks = unsafe tally.pointee.checkCount
        let round = unsafe LoadOutcome.Round(
            seconds: Double(nanoseconds) / 1e9, answerCount: answers - roundAnswerCount,
            checkCount: checks - roundCheckCount, latencies: tally.pointee.latencies)
        outcome.rounds.append(round)
        unsafe tally.pointee.latencies = Histogram()
        roundAnswerCount = answers
        roundCheckCount = checks
    }

    private mutating func endMeasuring() {
        guard clock.isMeasuring, now > measuredAt else { return }
        endIdling()
        let used = LoadClock.threadTime - threadTimeAtStart
        let worked = used > idlePollNanoseconds ? used - idlePollNanoseconds : 0
        outcome.busyShare = Double(worked) / Double(now - measuredAt)
        countUnsent()
    }

    /// What the schedule had come to and no connection had room for: these requests have waited at
    /// least until now, and a percentile that left them out would praise a server that stands.
    private mutating func countUnsent() {
        guard var schedule else { return }
        let from = clock.measuredFrom
        while schedule.next <= now {
            if schedule.next >= from {
                outcome.unsentCount += 1
                unsafe tally.pointee.latencies.record(now - schedule.next)
            }
            schedule.advance()
        }
        self.schedule = schedule
    }

    /// All that was measured; latencies that came after the end belong to the last round.
    consuming func finished() -> ThreadOutcome {
        if !outcome.rounds.isEmpty {
            let late = unsafe tally.pointee.latencies
            outcome.rounds[outcome.rounds.count - 1].latencies.merge(late)
        }
        outcome.answerCount = unsafe tally.pointee.answerCount
        outcome.wrongCount = unsafe tally.pointee.wrongCount
        outcome.wrongAnswers = unsafe tally.pointee.wrongAnswers
        board.answerCount.add(outcome.answerCount - publishedAnswerCount, ordering: .relaxed)
        return outcome
    }
}
