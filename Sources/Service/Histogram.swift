import Synchronization

/// How often something took how long, or was how large.
///
/// `counts` has one place more than `bounds`: what is beyond the last one.
package struct HistogramCounts: Hashable, Sendable {
    /// Upper bounds, inclusive, ascending; seconds, or whatever is counted.
    package var bounds: [Double]
    /// How many observations fell between the bound before and this one; not cumulative.
    package var counts: [UInt64]
    /// All observations together.
    package var sum: Double

    /// Nothing observed.
    package init(bounds: [Double]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds ascend")
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
        sum = 0
    }

    /// How many observations there are.
    package var count: UInt64 { counts.reduce(0, +) }

    /// For answers: from 10 us to 5 s.
    package static let answerBounds: [Double] = [
        0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
        0.05, 0.1, 0.5, 1, 5,
    ]
    /// For what waits for a disk or for Apple: from 1 ms to 60 s.
    package static let callBounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]
    /// For how old something is when it comes: from 1 s to the last repeat of Apple's, 157 h
    /// after the first attempt, and beyond.
    package static let ageBounds: [Double] = [
        1, 5, 15, 60, 300, 900, 3_600, 7_200, 21_600, 86_400, 259_200, 604_800,
    ]
    /// For the people of a family: 0 to 6.
    package static let peopleBounds: [Double] = [0, 1, 2, 3, 4, 5, 6]
}

/// Counts observations from any thread. Relaxed: a reader may see a count without its part of the
/// sum, or the other way round.
package final class Histogram: Sendable {
    private let bounds: [Double]
    private let places: [Place]
    /// In millionths, so that adding is one atomic operation.
    private let millionths = Atomic<UInt64>(0)

    private final class Place: Sendable {
        let count = Atomic<UInt64>(0)
    }

    /// Nothing observed.
    ///
    /// - Parameter bounds: Upper bounds, inclusive, ascending.
    package init(bounds: [Double]) {
        let empty = HistogramCounts(bounds: bounds)
        self.bounds = empty.bounds
        places = empty.counts.map { _ in Place() }
    }

    /// Counts one observation; what is no number or negative counts as 0.
    package func observe(_ value: Double) {
        let value = value > 0 ? value : 0
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        places[place].count.wrappingAdd(1, ordering: .relaxed)
        let parts = UInt64(exactly: (min(value, 1e12) * 1_000_000).rounded()) ?? 0
        millionths.wrappingAdd(parts, ordering: .relaxed)
    }

    /// What was observed so far.
    package var counts: HistogramCounts {
        var counts = HistogramCounts(bounds: bounds)
        counts.counts = places.map { $0.count.load(ordering: .relaxed) }
        counts.sum = Double(millionths.load(ordering: .relaxed)) / 1_000_000
        return counts
    }
}
