import Testing

@testable import LoadGenerator

@Suite struct CustomerPickerTests {
    private func counts(
        _ selection: CustomerSelection, customerCount: Int, draws: Int
    ) -> [Int] {
        let picker = CustomerPicker(selection, customerCount: customerCount)
        var random = RandomSource(seed: 11)
        var counts = [Int](repeating: 0, count: customerCount)
        for _ in 0..<draws { counts[Int(picker.next(&random))] += 1 }
        return counts
    }

    @Test func `uniform asks about everybody equally often`() {
        let counts = counts(.uniform, customerCount: 100, draws: 200_000)
        #expect(counts.allSatisfy { abs($0 - 2_000) < 300 })
    }

    @Test func `hot asks about the first ones only`() {
        let counts = counts(.hot(10), customerCount: 100, draws: 10_000)
        #expect(counts.prefix(10).allSatisfy { $0 > 0 })
        #expect(counts.dropFirst(10).allSatisfy { $0 == 0 })
        // A population smaller than what is hot is hot as a whole.
        #expect(self.counts(.hot(10), customerCount: 3, draws: 100).allSatisfy { $0 > 0 })
    }

    @Test(arguments: [0.5, 0.99, 1, 1.5])
    func `ranks of a zipfian choice have the weights of the formula`(exponent: Double) {
        let sampler = ZipfSampler(count: 1_000, exponent: exponent)
        var random = RandomSource(seed: 3)
        var counts = [Int](repeating: 0, count: 1_001)
        let draws = 500_000
        for _ in 0..<draws { counts[Int(sampler.next(&random))] += 1 }
        #expect(counts[0] == 0)
        // Weights by multiplying, not by the sampler's logarithms.
        func weight(_ rank: Int) -> Double { power(Double(rank), exponent) }
        let total = (1...1_000).reduce(0.0) { $0 + 1 / weight($1) }
        for rank in [1, 2, 3, 10, 100] {
            let expected = Double(draws) / weight(rank) / total
            #expect(abs(Double(counts[rank]) - expected) < 6 * expected.squareRoot() + 5)
        }
        let tail = counts[501...].reduce(0, +)
        let expected = (501...1_000).reduce(0.0) { $0 + Double(draws) / weight($1) / total }
        #expect(abs(Double(tail) - expected) < 6 * expected.squareRoot())
    }

    /// base^exponent for exponents of hundredths: the hundredth root by halving intervals.
    private func power(_ base: Double, _ exponent: Double) -> Double {
        let hundredths = Int((exponent * 100).rounded())
        var (low, high) = (1.0, 2.0)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            var product = 1.0
            for _ in 0..<100 { product *= middle }
            if product < base { low = middle } else { high = middle }
        }
        return (0..<hundredths).reduce(1.0) { product, _ in product * low }
    }

    @Test(arguments: [1, 2, 6, 1_000, 20_000, 65_536])
    func `every customer has one rank`(customerCount: Int) {
        // With an exponent near 0 all ranks come, and each stands for another customer.
        let counts = counts(
            .zipf(exponent: 0.01), customerCount: customerCount, draws: customerCount * 30)
        #expect(counts.filter { $0 == 0 }.count <= customerCount / 1_000)
    }

    @Test func `the popular ones are no neighbours`() {
        let counts = counts(.zipf(exponent: 0.99), customerCount: 20_000, draws: 100_000)
        let popular = counts.indices.sorted { counts[$0] > counts[$1] }.prefix(5)
        #expect(Set(popular.map { $0 / 100 }).count == 5)
    }
}
