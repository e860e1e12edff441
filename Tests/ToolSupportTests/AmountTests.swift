import Testing

@testable import ToolSupport

@Suite struct AmountTests {
    @Test func `amounts have two decimals at least, and no zeros behind`() {
        #expect(Amount.thousandths(9_990) == "9.99")
        #expect(Amount.thousandths(-5) == "-0.005")
        #expect(Amount.thousandths(0) == "0.00")
        #expect(Amount.millionths(320_000) == "0.32")
        #expect(Amount.millionths(1) == "0.000001")
        #expect(Amount.percent(100_000) == "100")
        #expect(Amount.percent(33_333) == "33.333")
    }
}
