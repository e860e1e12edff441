import Testing
import ToolSupport

@testable import entitlebench

@Suite struct CompareReportTests {
    private func report(_ storeLoopRates: [Double] = []) throws -> CompareReport {
        var figures = try CompareFixture.usual()
        figures.storeLoopRates = storeLoopRates
        return CompareReport(
            figures: figures, customerCount: 20_000, seconds: 0.7, machine: "A machine, a day")
    }

    @Test func `the table of the README stands between its markers, a row per shape and server`()
        throws
    {
        let text = try report().markdown
        #expect(
            text == """
                <!-- peers:begin -->
                A machine, a day. Every server on one core, the same generator on another; 20,000 \
                customers, every answer checked; median (lowest to highest) of 3 interleaved \
                rounds of 0.7 s.

                | connections x in flight | answers/s | to redis |
                | --- | ---: | ---: |
                | 1 x 1 | 250 | 2.50x (2.00 to 3.00) |
                | 1 x 1, spin | 500 | 4.50x (4.00 to 5.00) |
                | 16 x 64 | 4,000,000 | 4.00x (3.00 to 4.00) |
                <!-- peers:end -->

                """)
    }

    @Test func `gets from a bare RocksDB are compared with the last shape`() throws {
        let text = try report([200_000, 200_000, 200_000]).markdown
        #expect(text.contains("does 200,000/s, 5.00 us a get"))
        #expect(text.contains("at 16 x 64 the server answers 20.0x (15.0 to 25.0) as many checks."))
    }

    @Test func `gets from a bare RocksDB are not compared with a server that sleeps`() throws {
        var figures = try CompareFixture.figures([[[1, 100, 0], [1, 100, 0]], []])
        figures.storeLoopRates = [200_000, 200_000]
        let report = CompareReport(
            figures: figures, customerCount: 1, seconds: 1, machine: "")
        #expect(!report.markdown.contains("RocksDB"))
    }

    @Test func `on a terminal every server has a row in every shape that it was driven in`() throws
    {
        let lines = try report().lines.map(\.text)
        #expect(lines.contains("1 connection x 1 in flight"))
        #expect(lines.contains("16 connections x 64 in flight"))
        #expect(lines.filter { $0.hasPrefix("  redis") }.count == 2)
        #expect(lines.filter { $0.hasPrefix("  spin") }.count == 1)
        #expect(lines.contains { $0.hasPrefix("  redis") && $0.contains("2.50x") })
        let rows = lines.map { $0.split(separator: " ") }
        #expect(rows.contains { $0.first == "redis" && $0.contains("5.00") && $0.contains("20.0") })
    }

    @Test func `doubts are shown`() throws {
        let figures = try CompareFixture.figures([[[1, 100, 0], [1, 300, 0]], []])
        let report = CompareReport(
            figures: figures, customerCount: 1, seconds: 1, machine: "")
        #expect(report.lines.contains { $0.text.hasPrefix("warning: 1 x 1") })
    }

    @Test func `JSON has every round`() throws {
        let text = try report([1.5]).json.text
        #expect(text.contains(#""name":"redis","kind":"redis","answersPerSecond":[100,200,100]"#))
        #expect(text.contains(#""ratio":{"median":2.5,"lowest":2,"highest":3}"#))
        #expect(text.contains(#""rocksdbGetsPerSecond":[1.5]"#))
    }
}
