internal import LoadGenerator
internal import ToolSupport

/// The figures of all sizes, side by side.
struct ScaleReport: Sendable {
    let figures: [ScaleFigures]

    /// A row: its name, its unit, and what a size has to say.
    struct Row: Sendable {
        /// For programs: the unit stands at the end.
        let key: String
        /// For people.
        let title: String
        /// How many decimals are written.
        let decimalCount: Int
        let value: @Sendable (ScaleFigures) -> Double?
    }

    private static func microseconds(_ nanoseconds: UInt64) -> Double {
        Double(nanoseconds) / 1_000
    }

    static let rows: [Row] = [
        Row(key: "load_s", title: "bulk load, s", decimalCount: 1) { $0.loadSeconds },
        Row(key: "load_per_s", title: "customers loaded per s", decimalCount: 0) {
            Double($0.customerCount) / max($0.loadSeconds, 1e-9)
        },
        Row(key: "disk_mib", title: "on disk, MiB", decimalCount: 1) {
            Double($0.diskByteCount) / 1_048_576
        },
        Row(key: "disk_per_customer", title: "on disk per customer, bytes", decimalCount: 0) {
            Double($0.diskByteCount) / Double($0.customerCount)
        },
        Row(key: "first_answer_ms", title: "start to first right answer, ms", decimalCount: 0) {
            Double($0.firstAnswerNanoseconds) / 1e6
        },
        Row(key: "warm_s", title: "all verdicts in memory after, s", decimalCount: 2) {
            $0.warmMilliseconds.map { Double($0) / 1_000 }
        },
        Row(key: "resident_mib", title: "memory of the server, MiB", decimalCount: 0) {
            Double($0.residentByteCount) / 1_048_576
        },
        Row(key: "read_us", title: "bare RocksDB read, us", decimalCount: 2) {
            $0.readNanoseconds / 1_000
        },
        Row(key: "check_cpu_us", title: "server CPU per check, us", decimalCount: 3) {
            $0.checkNanoseconds / 1_000
        },
        Row(key: "checks_per_s", title: "checks per s, 16 x 16", decimalCount: 0) {
            $0.warmPerSecond
        },
        Row(key: "cold_p50_us", title: "check p50 while warming, us", decimalCount: 0) {
            microseconds($0.cold.value(at: 0.5))
        },
        Row(key: "cold_p99_us", title: "check p99 while warming, us", decimalCount: 0) {
            microseconds($0.cold.value(at: 0.99))
        },
        Row(key: "warm_p50_us", title: "check p50 warm, us", decimalCount: 0) {
            microseconds($0.warm.value(at: 0.5))
        },
        Row(key: "warm_p99_us", title: "check p99 warm, us", decimalCount: 0) {
            microseconds($0.warm.value(at: 0.99))
        },
        Row(key: "mixed_p99_us", title: "check p99 among notifications, us", decimalCount: 0) {
            microseconds($0.mixedChecks.value(at: 0.99))
        },
        Row(key: "ingests_per_s", title: "notifications per s", decimalCount: 0) {
            $0.ingestsPerSecond
        },
        Row(key: "ingest_cpu_us", title: "server CPU per notification, us", decimalCount: 0) {
            $0.ingestNanoseconds / 1_000
        },
        Row(key: "verifications_us", title: "of which three ES256 are, us", decimalCount: 0) {
            3 * $0.verificationNanoseconds / 1_000
        },
        Row(key: "ingest_p50_us", title: "notification p50, us", decimalCount: 0) {
            microseconds($0.ingests.value(at: 0.5))
        },
        Row(key: "ingest_p99_us", title: "notification p99, us", decimalCount: 0) {
            microseconds($0.ingests.value(at: 0.99))
        },
        Row(
            key: "heavy_cold_ms", title: "notification to the heavy one, first, ms", decimalCount: 2
        ) {
            Double($0.heavyColdNanoseconds) / 1e6
        },
        Row(key: "heavy_hot_ms", title: "the next ones, ms", decimalCount: 2) {
            Double($0.heavyHotNanoseconds) / 1e6
        },
        Row(key: "heavy_refund_ms", title: "its newest purchase refunded, ms", decimalCount: 2) {
            Double($0.heavyRefundNanoseconds) / 1e6
        },
        Row(key: "heavy_reversal_ms", title: "that refund reversed, ms", decimalCount: 2) {
            Double($0.heavyReversalNanoseconds) / 1e6
        },
        Row(key: "heavy_copy_ms", title: "a family copy to it, ms", decimalCount: 2) {
            Double($0.heavyCopyNanoseconds) / 1e6
        },
        Row(key: "heavy_revoke_ms", title: "the REVOKE of that copy, ms", decimalCount: 2) {
            Double($0.heavyRevokeNanoseconds) / 1e6
        },
        Row(key: "heavy_rebuild_ms", title: "a rebuild of the heavy one, ms", decimalCount: 2) {
            Double($0.heavyRebuildNanoseconds) / 1e6
        },
    ]

    /// The table, and what became of the two costs that are meant to stay.
    var lines: [Line] {
        var table = Table(
            [.text("customers")] + figures.map { .number(Figure.whole(UInt64($0.customerCount))) })
        for row in Self.rows {
            table.add(
                [Table.Cell(row.title)]
                    + figures.map { figure in
                        Table.Cell(
                            row.value(figure).map { Figure.fixed($0, row.decimalCount) } ?? "-")
                    })
        }
        return table.lines() + [Line("")] + growth.map { Line($0) }
    }

    /// Sentences about what each tenfold did.
    var growth: [String] {
        guard let first = figures.first, let last = figures.last, figures.count > 1 else {
            return []
        }
        let factor = Figure.short(Double(last.customerCount) / Double(first.customerCount))
        func sentence(_ what: String, _ value: (ScaleFigures) -> Double) -> String {
            let ratio = value(last) / max(value(first), 1e-9)
            return "\(what) is \(Figure.fixed(ratio, 2))x for \(factor)x the customers"
        }
        return [
            sentence("server CPU per check") { $0.checkNanoseconds },
            sentence("server CPU per notification") { $0.ingestNanoseconds },
            sentence("a bare RocksDB read") { $0.readNanoseconds },
        ]
    }

    /// The same for programs.
    var json: JSONValue {
        .object([
            (
                "sizes",
                .array(
                    figures.map { figure in
                        .object(
                            [("customers", .natural(UInt64(figure.customerCount)))]
                                + Self.rows.map { row in
                                    (row.key, row.value(figure).map { .number($0) } ?? .null)
                                })
                    })
            )
        ])
    }
}
