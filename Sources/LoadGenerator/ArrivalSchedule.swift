internal import Glibc

/// The instants at which an open loop means to send, one after the other, whatever has been sent.
///
/// Nothing is queued when sending is late: the next instant simply lies in the past.
struct ArrivalSchedule {
    private let start: UInt64
    private let interval: Double
    private let arrivals: LoadPlan.Arrivals
    private var random: RandomSource
    private var offset: Double = 0
    private var index = 0

    /// The next instant, in nanoseconds.
    private(set) var next: UInt64

    /// Instants from `start` on, so many per second on average. `phase`, from 0 to 1, says where in
    /// its interval the first one lies: two threads with other phases do not send at once.
    init(
        start: UInt64, perSecond: Double, arrivals: LoadPlan.Arrivals, phase: Double, seed: UInt64
    ) {
        precondition(perSecond > 0)
        self.start = start
        self.arrivals = arrivals
        interval = 1e9 / perSecond
        random = RandomSource(seed: seed)
        offset = phase * interval
        next = start
        next = start + UInt64(arrivals == .constant ? offset : drawn())
    }

    /// About how many instants have come by `now`.
    func dueCount(at now: UInt64) -> Int {
        now < next ? 0 : Int(min(1e6, Double(now - next) / interval)) + 1
    }

    /// Goes on to the next instant.
    mutating func advance() {
        index += 1
        // From the index, not by adding up: a million intervals of 333.3 ns do not drift.
        let position = arrivals == .constant ? offset + Double(index) * interval : drawn()
        next = start + UInt64(position)
    }

    private mutating func drawn() -> Double {
        // 1 - u is never 0, so the logarithm is finite.
        offset -= log(1 - random.fraction()) * interval
        return offset
    }
}
