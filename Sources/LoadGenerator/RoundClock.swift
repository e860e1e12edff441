/// Which round a run is in.
struct RoundClock {
    private let warmUp: UInt64
    private let round: UInt64
    private let roundCount: Int
    private var start: UInt64 = 0
    /// Rounds that are over.
    private(set) var endedCount = 0
    /// When the running one began, in nanoseconds.
    private(set) var roundStart: UInt64 = 0
    /// Whether the warm-up is over.
    private(set) var isMeasuring = false

    init(_ plan: LoadPlan) {
        warmUp = plan.warmUpNanoseconds
        round = plan.roundNanoseconds
        roundCount = plan.roundCount
    }

    /// The run begins, with its warm-up.
    mutating func begin(at instant: UInt64) { start = instant }

    /// When the first round begins.
    var measuredFrom: UInt64 { start + warmUp }

    /// When the last round ends.
    var end: UInt64 { measuredFrom + round * UInt64(roundCount) }

    /// When the running part ends.
    var boundary: UInt64 {
        isMeasuring ? measuredFrom + round * UInt64(endedCount + 1) : measuredFrom
    }

    /// Which slice of throughput an instant of a round is in.
    func slice(of instant: UInt64) -> Int {
        instant < measuredFrom ? 0 : Int((instant - measuredFrom) / LoadPlan.sliceNanoseconds)
    }

    /// What a `turn` has found.
    enum Turn: Equatable {
        /// The same part goes on.
        case none
        /// The warm-up is over.
        case measuring
        /// A round is over, after so many nanoseconds; the next one runs unless it was the last.
        case round(nanoseconds: UInt64, isLast: Bool)
    }

    /// Goes on to the part that `now` lies in. A round that began late ends late, so that none is
    /// passed over.
    mutating func turn(at now: UInt64) -> Turn {
        guard now >= boundary else { return .none }
        if !isMeasuring {
            isMeasuring = true
            roundStart = now
            return .measuring
        }
        return endRound(at: now)
    }

    /// Ends the running round now.
    mutating func endRound(at now: UInt64) -> Turn {
        let length = now - roundStart
        roundStart = now
        endedCount += 1
        return .round(nanoseconds: length, isLast: endedCount == roundCount)
    }
}
