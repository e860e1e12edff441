import Service
import Testing

@Suite struct HistogramTests {
    @Test func `an observation falls below the first bound that is not smaller`() {
        let histogram = Histogram(bounds: [0.5, 1])
        for value in [0, 0.5, 0.500001, 1, 1.000001, 1e30, -3, .nan] { histogram.observe(value) }
        let counts = histogram.counts
        #expect(counts.counts == [4, 2, 2])
        #expect(counts.count == 8)
        #expect(counts.sum > 1e12)
    }

    @Test func `the sum is exact to a millionth`() {
        let histogram = Histogram(bounds: HistogramCounts.answerBounds)
        for _ in 0..<1_000 { histogram.observe(0.000125) }
        #expect(histogram.counts.sum == 0.125)
    }

    @Test func `threads lose nothing`() async {
        let histogram = Histogram(bounds: [1])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<1_000 { histogram.observe(2) } }
            }
        }
        #expect(histogram.counts.counts == [0, 4_000])
        #expect(histogram.counts.sum == 8_000)
    }

    @Test func `bounds that do not ascend are a mistake of the programmer`() async {
        await #expect(processExitsWith: .failure) { _ = HistogramCounts(bounds: [1, 1]) }
    }
}
