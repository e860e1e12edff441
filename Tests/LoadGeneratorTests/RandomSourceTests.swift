import Testing

@testable import LoadGenerator

@Suite struct RandomSourceTests {
    @Test func `a seed makes the same numbers, another one others`() {
        func numbers(_ seed: UInt64) -> [UInt64] {
            var random = RandomSource(seed: seed)
            return (0..<100).map { _ in random.next() }
        }
        #expect(numbers(1) == numbers(1))
        #expect(Set(numbers(1)).isDisjoint(with: numbers(2)))
        #expect(Set(numbers(0)).count == 100)
    }

    @Test func `below stays below, and every number comes as often`() {
        var random = RandomSource(seed: 4)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<100_000 { counts[Int(random.below(10))] += 1 }
        #expect(counts.allSatisfy { abs($0 - 10_000) < 500 })
        #expect((0..<100).allSatisfy { _ in random.below(1) == 0 })
    }

    @Test func `a fraction is at least 0 and less than 1`() {
        var random = RandomSource(seed: 5)
        var sum = 0.0
        for _ in 0..<100_000 {
            let fraction = random.fraction()
            #expect(fraction >= 0 && fraction < 1)
            sum += fraction
        }
        #expect(abs(sum / 100_000 - 0.5) < 0.01)
    }
}
