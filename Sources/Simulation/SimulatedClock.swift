internal import Entitlements
internal import Synchronization

/// The two clocks of a simulated machine: one that only goes forward, and the wall clock, which
/// people and time servers set.
///
/// Safe from any thread only because the service asks for that of its clock; one thread uses it.
final class SimulatedClock: Sendable {
    /// What the wall clock says when a simulation begins: 2026-09-21, in ms since 1970.
    static let beginning: Int64 = 1_790_000_000_000

    private let monotonic = Atomic<Int64>(0)
    private let offset = Atomic<Int64>(0)
    /// When the wall clock was set, and by how much it was off from then on; the first stands for
    /// the start.
    private let settings = Mutex<[(at: Int64, offset: Int64)]>([(at: 0, offset: 0)])

    /// Simulated milliseconds since the start.
    var nowMilliseconds: Int64 { monotonic.load(ordering: .relaxed) }

    /// What the wall clock says, in ms since 1970.
    var wallMilliseconds: Int64 {
        Self.beginning + nowMilliseconds + offset.load(ordering: .relaxed)
    }

    var wall: Timestamp { Timestamp(milliseconds: wallMilliseconds) }

    /// Time passes; it never goes back.
    func advance(to milliseconds: Int64) {
        precondition(milliseconds >= nowMilliseconds, "simulated time goes forward")
        monotonic.store(milliseconds, ordering: .relaxed)
    }

    /// Sets the wall clock forward, or back.
    func step(by milliseconds: Int64) {
        let sum = offset.add(milliseconds, ordering: .relaxed).newValue
        settings.withLock { $0.append((at: nowMilliseconds, offset: sum)) }
    }

    /// Everything that the wall clock has said between two moments, ends included, in ms since
    /// 1970; gaps that a step left count as said.
    func wallRange(from start: Int64, through end: Int64) -> ClosedRange<Int64> {
        settings.withLock { settings in
            var (low, high) = (Int64.max, Int64.min)
            for (index, setting) in settings.enumerated() {
                let until = index + 1 < settings.count ? settings[index + 1].at : .max
                let (from, through) = (max(start, setting.at), min(end, until))
                guard from <= through else { continue }
                low = min(low, Self.beginning + from + setting.offset)
                high = max(high, Self.beginning + through + setting.offset)
            }
            return low...high
        }
    }
}
