/// Latencies, counted exactly in buckets whose width grows with the value: three significant digits
/// from 1 us to 60 s.
///
/// A bucket is at most 1/1024 of its values wide. Values below 2,048 ns have one of their own each;
/// from there on every doubling has 1,024. That is 28 thousand counts, of which a run touches a few
/// hundred that lie side by side.
package struct Histogram: Equatable, Sendable {
    /// The longest latency told apart, in nanoseconds; a longer one is counted with it.
    package static let nanosecondsMax: UInt64 = 60_000_000_000
    /// log2 of the buckets per doubling.
    private static let precisionBitCount = 10
    private static let bucketCount = index(of: nanosecondsMax) + 1

    /// How many were recorded.
    package private(set) var count: UInt64 = 0
    /// The sum of them, in nanoseconds; it wraps after centuries.
    package private(set) var sumNanoseconds: UInt64 = 0
    /// The shortest, exactly; 0 when there is none.
    package private(set) var minNanoseconds: UInt64 = 0
    /// The longest, exactly, even beyond 60 s; 0 when there is none.
    package private(set) var maxNanoseconds: UInt64 = 0
    private var counts: [UInt64]

    /// An empty one.
    package init() { counts = Array(repeating: 0, count: Self.bucketCount) }

    /// Counts one latency.
    package mutating func record(_ nanoseconds: UInt64) {
        counts[Self.index(of: min(nanoseconds, Self.nanosecondsMax))] += 1
        if count == 0 || nanoseconds < minNanoseconds { minNanoseconds = nanoseconds }
        if nanoseconds > maxNanoseconds { maxNanoseconds = nanoseconds }
        count += 1
        sumNanoseconds &+= nanoseconds
    }

    /// Adds what another has counted.
    package mutating func merge(_ other: Histogram) {
        guard other.count > 0 else { return }
        for index in counts.indices { counts[index] += other.counts[index] }
        let otherMin = other.minNanoseconds
        minNanoseconds = count == 0 ? otherMin : min(minNanoseconds, otherMin)
        maxNanoseconds = max(maxNanoseconds, other.maxNanoseconds)
        count += other.count
        sumNanoseconds &+= other.sumNanoseconds
    }

    /// The mean, in nanoseconds; 0 when there is none.
    package var meanNanoseconds: Double {
        count == 0 ? 0 : Double(sumNanoseconds) / Double(count)
    }

    /// The latency that a share of all, from 0 to 1, do not exceed, in nanoseconds; 0 when there is
    /// none. 1 gives the longest.
    ///
    /// It is the upper end of its bucket, or the longest of all when that is less.
    package func value(at quantile: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = max(1, UInt64((min(max(quantile, 0), 1) * Double(count)).rounded(.up)))
        if rank >= count { return maxNanoseconds }
        var seen: UInt64 = 0
        for index in counts.indices {
            seen += counts[index]
            if seen >= rank {
                return min(max(Self.upperEnd(of: index), minNanoseconds), maxNanoseconds)
            }
        }
        return maxNanoseconds
    }

    private static func index(of nanoseconds: UInt64) -> Int {
        let width = UInt64.bitWidth - nanoseconds.leadingZeroBitCount
        let shift = max(0, width - precisionBitCount - 1)
        return shift << precisionBitCount + Int(nanoseconds >> UInt64(shift))
    }

    private static func upperEnd(of index: Int) -> UInt64 {
        let shift = max(0, index >> precisionBitCount - 1)
        let base = UInt64(index - shift << precisionBitCount)
        return (base + 1) << UInt64(shift) - 1
    }
}

extension Histogram {
    /// The buckets that are not empty: the upper end in nanoseconds, and the count.
    package var buckets: [(upperNanoseconds: UInt64, count: UInt64)] {
        counts.indices.lazy.filter { counts[$0] > 0 }.map { (Self.upperEnd(of: $0), counts[$0]) }
    }

    /// Puts back what `buckets`, `minNanoseconds`, `maxNanoseconds` and `sumNanoseconds` gave.
    ///
    /// - Returns: nil when these do not fit together.
    package init?(
        buckets: [(upperNanoseconds: UInt64, count: UInt64)], minNanoseconds: UInt64,
        maxNanoseconds: UInt64, sumNanoseconds: UInt64
    ) {
        self.init()
        for (upper, count) in buckets {
            guard upper <= Self.upperEnd(of: Self.bucketCount - 1), count > 0 else { return nil }
            let index = min(Self.index(of: upper), Self.bucketCount - 1)
            guard Self.upperEnd(of: index) == upper, counts[index] == 0 else { return nil }
            counts[index] = count
            let (sum, overflow) = self.count.addingReportingOverflow(count)
            guard !overflow else { return nil }
            self.count = sum
        }
        guard minNanoseconds <= maxNanoseconds else { return nil }
        self.minNanoseconds = minNanoseconds
        self.maxNanoseconds = maxNanoseconds
        self.sumNanoseconds = sumNanoseconds
    }
}
