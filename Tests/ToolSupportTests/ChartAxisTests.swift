import Testing

@testable import ToolSupport

@Suite struct ChartAxisTests {
    @Test(
        arguments: [
            (0, [0, 1]), (1, [0, 1]), (7, [0, 2, 4, 6, 8]), (50, [0, 10, 20, 30, 40, 50]),
            (51, [0, 20, 40, 60]), (4_000_000, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]),
        ] as [(Int64, [Int64])])
    func `ticks are round and reach the largest bar`(maximum: Int64, ticks: [Int64]) {
        #expect(ChartAxis(maximum: maximum, scale: 1).ticks == ticks)
    }

    @Test func `a number stands where it belongs`() {
        let axis = ChartAxis(maximum: 50, scale: 1)
        #expect(axis.fraction(of: 0) == 0)
        #expect(axis.fraction(of: 25) == 0.5)
        #expect(axis.fraction(of: 500) == 1)
    }

    @Test func `thousandths are written as such where one needs it`() {
        let axis = ChartAxis(maximum: 2_500, scale: 1_000)
        #expect(axis.label(of: 500) == "0.50")
        #expect(ChartAxis(maximum: 50_000, scale: 1_000).label(of: 10_000) == "10")
    }
}
