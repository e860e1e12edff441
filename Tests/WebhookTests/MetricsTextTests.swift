@testable import Webhook
import Service
import Testing

@Suite struct MetricsTextTests {
    private func write(
        _ format: MetricsFormat = .prometheus, _ body: (inout MetricsText) -> Void
    ) -> String {
        var text = MetricsText(format)
        body(&text)
        return String(decoding: text.finished(), as: UTF8.self)
    }

    @Test func `a family has its help and type once, then its series`() {
        let text = write {
            $0.counter(
                "a_total", "Things.",
                [([MetricsLabel("x", "1"), MetricsLabel("y", "2")], 3), ([], 0)])
        }
        #expect(
            text == """
                # HELP a_total Things.
                # TYPE a_total counter
                a_total{x="1",y="2"} 3
                a_total 0

                """)
    }

    @Test func `OpenMetrics names a counter's family without its suffix, and ends`() {
        let text = write(.openMetrics) {
            $0.counter("a_total", "Things.", [([], 1)])
            $0.gauge("b", "Now.", [([], 0.5)])
        }
        #expect(
            text == """
                # HELP a Things.
                # TYPE a counter
                a_total 1
                # HELP b Now.
                # TYPE b gauge
                b 0.5
                # EOF

                """)
    }

    @Test func `buckets are cumulative, the last one holds all`() {
        var counts = HistogramCounts(bounds: [0.00001, 1])
        counts.counts = [2, 0, 1]
        counts.sum = 7.5
        let text = write { $0.histogram("h", "Times.", [([MetricsLabel("m", "x")], counts)]) }
        #expect(
            text == """
                # HELP h Times.
                # TYPE h histogram
                h_bucket{m="x",le="1e-05"} 2
                h_bucket{m="x",le="1"} 2
                h_bucket{m="x",le="+Inf"} 3
                h_sum{m="x"} 7.5
                h_count{m="x"} 3

                """)
    }

    @Test func `labels and help are escaped`() {
        let text = write { $0.gauge("g", "a\\b\n\"c\"", [([MetricsLabel("l", "a\\b\n\"c\"")], 1)]) }
        #expect(text.contains("# HELP g a\\\\b\\n\"c\"\n"))
        #expect(text.contains("g{l=\"a\\\\b\\n\\\"c\\\"\"} 1\n"))
    }

    @Test(
        arguments: [
            (0, "0"), (-3, "-3"), (9_007_199_254_740_991, "9007199254740991"), (0.25, "0.25"),
            (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)])
    func `numbers are written as every parser reads them`(value: Double, expected: String) {
        #expect(MetricsText.text(value) == expected)
    }

    @Test(
        arguments: [
            (nil, MetricsFormat.prometheus), ("", .prometheus), ("*/*", .prometheus),
            ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .prometheus),
            (
                "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
                .openMetrics
            ),
            ("application/openmetrics-text; version=1.0.0; q=0.8, text/plain;q=0.9", .prometheus),
            ("application/openmetrics-text;q=0", .prometheus),
            ("APPLICATION/OpenMetrics-Text", .openMetrics),
            ("application/openmetrics-text;q=x", .prometheus), ("text/html", .prometheus),
        ] as [(String?, MetricsFormat)])
    func `the scraper chooses the form`(accept: String?, format: MetricsFormat) {
        #expect(MetricsFormat(accept: accept) == format)
    }
}
