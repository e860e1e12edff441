import Testing

@testable import entitlebench

@Suite struct FigureTests {
    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"),
        ] as [(UInt64, String)])
    func `whole numbers have their thousands apart`(value: UInt64, text: String) {
        #expect(Figure.whole(value) == text)
        #expect(Figure.rate(Double(value)) == text + "/s")
    }

    @Test(
        arguments: [
            (0, "0.00"), (1_234, "1.23"), (9_994, "9.99"), (12_345, "12.3"), (99_940, "99.9"),
            (107_400, "107"), (25_300_000, "25,300"),
        ] as [(UInt64, String)])
    func `microseconds have three digits that mean something`(nanoseconds: UInt64, text: String) {
        #expect(Figure.microseconds(nanoseconds) == text)
    }

    @Test func `decimals are as many as asked for, or as few as it takes`() {
        #expect(Figure.fixed(1.005, 1) == "1.0")
        #expect(Figure.fixed(-0.5, 2) == "-0.50")
        #expect(Figure.fixed(7, 0) == "7")
        #expect(Figure.fixed(.nan, 2) == "-")
        #expect(Figure.short(5) == "5")
        #expect(Figure.short(0.25) == "0.25")
        #expect(Figure.short(100) == "100")
        #expect(Figure.percent(0.426) == "43 %")
    }

    @Test(
        arguments: [
            ([], 0), ([3], 3), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5),
        ] as [([Double], Double)])
    func `the median is the middle one`(values: [Double], median: Double) {
        #expect(Figure.median(values) == median)
    }
}
