import LoadGenerator
import Testing

@testable import entitlebench

@Suite struct LoadChartTests {
    @Test func `every percentile is as far from the next as the one before`() {
        #expect(LoadChart.place(ofShare: 0) == 0)
        #expect(abs(LoadChart.place(ofShare: 0.9) - 0.2) < 1e-9)
        #expect(abs(LoadChart.place(ofShare: 0.99) - 0.4) < 1e-9)
        #expect(abs(LoadChart.place(ofShare: 0.999_99) - 1) < 1e-9)
        #expect(LoadChart.place(ofShare: 1) == 1)
    }

    @Test func `every element is closed, and no point lies outside`() throws {
        var random = RandomSource(seed: 1)
        let rounds = (0..<3).map { _ in
            BenchFixture.round(1, (0..<1_000).map { _ in 1 + random.below(100_000) })
        }
        let document = LoadChart(try BenchFixture.report(BenchFixture.outcome(rounds))).document
        #expect(try openElements(document) == [])
        #expect(document.contains("check-zipf"))
        let paths = document.split(separator: "points=\"").dropFirst()
        // Three rounds, all of them, and throughput.
        #expect(paths.count == 5)
        for path in paths {
            for point in path.prefix(while: { $0 != "\"" }).split(separator: " ") {
                let numbers = point.split(separator: ",").compactMap { Double($0) }
                #expect(numbers.count == 2)
                #expect((90...830).contains(numbers[0]) && (100...640).contains(numbers[1]))
            }
        }
    }

    @Test func `every colour has another one on dark pages`() throws {
        let rounds = [BenchFixture.round(1, [1, 2, 3])]
        let document = LoadChart(try BenchFixture.report(BenchFixture.outcome(rounds))).document
        for attribute in ["fill", "stroke"] {
            for piece in document.split(separator: " \(attribute)=\"#").dropFirst() {
                let colour = piece.prefix(while: { $0 != "\"" })
                #expect(document.contains("[\(attribute)=\"#\(colour)\"]{\(attribute):#"))
            }
        }
    }

    @Test func `a run without answers is drawn all the same`() throws {
        var outcome = BenchFixture.outcome([])
        outcome.slices = []
        let document = LoadChart(try BenchFixture.report(outcome)).document
        #expect(try openElements(document) == [])
    }

    /// The names of elements that are open at the end of a document.
    private func openElements(_ document: String) throws -> [String] {
        var open: [String] = []
        for piece in document.split(separator: "<").map(String.init) {
            let tag = piece.prefix { $0 != ">" }
            try #require(tag.count < piece.count)
            if tag.hasPrefix("/") {
                #expect(open.popLast() == String(tag.dropFirst()))
            } else if !tag.hasSuffix("/") {
                open.append(String(tag.prefix { $0 != " " }))
            }
        }
        return open
    }
}
