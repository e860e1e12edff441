import Testing

@testable import entitlebench

/// A comparison of made-up rounds.
enum CompareFixture {
    /// Three servers in two shapes; rates by shape, round and server. 0 = not driven so.
    static func figures(_ rates: [[[Double]]]) throws -> CompareFigures {
        let targets = try ["entitled=entitled", "redis=redis", "spin=entitled"].map {
            try CompareTarget($0 + ":127.0.0.1:1")
        }
        var figures = CompareFigures(
            targets: targets, shapes: [CompareShape(1, 1), CompareShape(16, 64)])
        for (shape, rounds) in rates.enumerated() {
            for round in rounds {
                for (target, rate) in round.enumerated() where rate > 0 {
                    figures.add(
                        CompareSample(
                            answersPerSecond: rate, medianNanoseconds: 5_000,
                            p99Nanoseconds: 20_000, generatorBusyShare: 0.5),
                        shape: shape, target: target)
                }
            }
        }
        return figures
    }

    /// Redis does 100 a second in a slow round, 200 in a fast one; we do two or three times that.
    static func usual() throws -> CompareFigures {
        try figures([
            [[200, 100, 500], [600, 200, 900], [250, 100, 400]],
            [[4_000_000, 1_000_000, 0], [3_000_000, 1_000_000, 0], [5_000_000, 1_250_000, 0]],
        ])
    }
}

@Suite struct CompareFiguresTests {
    @Test func `a ratio is the median of the ratios of each round, not of the medians`() throws {
        let ratio = try #require(try CompareFixture.usual().ratio(shape: 0, of: 0, to: 1))
        #expect(ratio.median == 2.5)
        #expect(ratio.lowest == 2)
        #expect(ratio.highest == 3)
        #expect(ratio.text == "2.50x (2.00 to 3.00)")
    }

    @Test func `there is no ratio to a server that was not driven so`() throws {
        let figures = try CompareFixture.usual()
        #expect(figures.ratio(shape: 1, of: 0, to: 2) == nil)
        #expect(CompareRatio([1], to: [0]) == nil)
    }

    @Test(arguments: [(0.456, "0.46"), (9.994, "9.99"), (12.34, "12.3"), (123.4, "123")])
    func `a ratio shows three digits`(value: Double, text: String) {
        #expect(CompareRatio.times(value) == text)
    }

    @Test func `rounds of Redis that are more than twice apart are doubted`() throws {
        #expect(try CompareFixture.usual().doubts.isEmpty)
        let figures = try CompareFixture.figures([[[1, 100, 0], [1, 201, 0]], [[1, 50, 0]]])
        #expect(figures.doubts.count == 1)
        #expect(figures.doubts[0].hasPrefix("1 x 1: rounds of redis lie from 100/s to 201/s"))
    }
}
