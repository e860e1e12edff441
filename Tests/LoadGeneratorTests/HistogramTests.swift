import Testing

@testable import LoadGenerator

@Suite struct HistogramTests {
    @Test(arguments: [1, 7, 42, 4_711] as [UInt64])
    func `every percentile is within a thousandth of the sorted values`(seed: UInt64) {
        var random = RandomSource(seed: seed)
        var histogram = Histogram()
        var values: [UInt64] = []
        for _ in 0..<20_000 {
            // From 1 us to 60 s, every power of ten as often.
            var value: UInt64 = 1_000
            for _ in 0..<random.below(8) { value *= 10 }
            value = min(value + random.below(value * 9), Histogram.nanosecondsMax)
            values.append(value)
            histogram.record(value)
        }
        values.sort()
        #expect(histogram.count == 20_000)
        #expect(histogram.minNanoseconds == values.first)
        #expect(histogram.maxNanoseconds == values.last)
        #expect(histogram.value(at: 1) == values.last)
        for share in [0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let rank = max(1, Int((share * 20_000).rounded(.up)))
            let exact = values[rank - 1]
            let found = histogram.value(at: share)
            #expect(found >= exact, "seed \(seed), share \(share)")
            #expect(found - exact <= exact / 1_000, "seed \(seed), share \(share)")
        }
    }

    @Test func `an empty one has no latency`() {
        let histogram = Histogram()
        #expect(histogram.count == 0)
        #expect(histogram.value(at: 0.5) == 0)
        #expect(histogram.value(at: 1) == 0)
        #expect(histogram.meanNanoseconds == 0)
        #expect(histogram.buckets.isEmpty)
    }

    @Test func `a latency beyond a minute counts, and stays the exact maximum`() {
        var histogram = Histogram()
        histogram.record(1_000)
        histogram.record(3_600_000_000_000)
        #expect(histogram.count == 2)
        #expect(histogram.value(at: 1) == 3_600_000_000_000)
        #expect(histogram.maxNanoseconds == 3_600_000_000_000)
        #expect(histogram.value(at: 0.5) == 1_000)
    }

    @Test func `the mean is that of the values themselves`() {
        var histogram = Histogram()
        for value in [1_001, 2_003, 3_002] as [UInt64] { histogram.record(value) }
        #expect(histogram.meanNanoseconds == 2_002)
    }

    @Test func `two merged are one that has seen it all`() {
        var (left, right, both) = (Histogram(), Histogram(), Histogram())
        var random = RandomSource(seed: 3)
        for round in 0..<5_000 {
            let value = random.below(50_000_000)
            if round % 3 == 0 { left.record(value) } else { right.record(value) }
            both.record(value)
        }
        left.merge(right)
        #expect(left == both)
        left.merge(Histogram())
        #expect(left == both)
        var empty = Histogram()
        empty.merge(both)
        #expect(empty == both)
    }

    @Test func `its buckets make the same one again`() throws {
        var histogram = Histogram()
        var random = RandomSource(seed: 9)
        for _ in 0..<2_000 { histogram.record(random.below(100_000_000_000)) }
        #expect(histogram.buckets.reduce(0) { $0 + $1.count } == 2_000)
        let restored = try #require(
            Histogram(
                buckets: histogram.buckets, minNanoseconds: histogram.minNanoseconds,
                maxNanoseconds: histogram.maxNanoseconds,
                sumNanoseconds: histogram.sumNanoseconds))
        #expect(restored == histogram)
    }

    @Test func `buckets that no histogram has are refused`() {
        func restored(_ buckets: [(upperNanoseconds: UInt64, count: UInt64)]) -> Histogram? {
            Histogram(buckets: buckets, minNanoseconds: 1, maxNanoseconds: 2, sumNanoseconds: 3)
        }
        #expect(restored([(2_048, 1)]) == nil)
        #expect(restored([(2_047, 1)]) != nil)
        #expect(restored([(2_047, 1), (2_047, 1)]) == nil)
        #expect(restored([(100, 0)]) == nil)
        #expect(restored([(.max, 1)]) == nil)
        #expect(restored([(1, .max), (2, 1)]) == nil)
    }
}
