internal import LoadGenerator
internal import ToolSupport

/// What a workload has to say besides the table of its rounds.
enum Remarks {
    /// A name, words for people, a value for programs.
    typealias Remark = (name: String, text: String, value: JSONValue)

    /// A number of things.
    static func count(_ name: String, _ count: UInt64) -> Remark {
        (name, Figure.whole(count), .natural(count))
    }

    /// So many per second.
    static func rate(_ name: String, _ perSecond: Double) -> Remark {
        (name, Figure.rate(perSecond), .number(perSecond))
    }

    /// How one thing is to another.
    static func ratio(_ name: String, _ ratio: Double) -> Remark {
        (name, Figure.fixed(ratio, 2), .number(ratio))
    }

    /// A time, in nanoseconds; microseconds are written.
    static func time(_ name: String, _ nanoseconds: Double) -> Remark {
        (
            name, Figure.microseconds(UInt64(max(0, nanoseconds))) + " us",
            .number(nanoseconds / 1_000)
        )
    }

    /// Latencies: median, p99 and longest, in microseconds.
    static func latency(_ name: String, _ latencies: Histogram) -> Remark {
        let values = [
            latencies.value(at: 0.5), latencies.value(at: 0.99), latencies.maxNanoseconds,
        ]
        let text = zip(["p50", "p99", "max"], values).map { "\($0) \(Figure.microseconds($1))" }
        return (
            name, text.joined(separator: ", ") + " us",
            .object([
                ("p50_us", .number(Double(values[0]) / 1_000)),
                ("p99_us", .number(Double(values[1]) / 1_000)),
                ("max_us", .number(Double(values[2]) / 1_000)),
                ("count", .natural(latencies.count)),
            ])
        )
    }
}

extension WriteRun.Outcome {
    /// What a run of notifications says besides its rounds.
    func remarks(_ mix: WriteMix, signaturesPerSecond: Double) -> [Remarks.Remark] {
        var remarks = [
            Remarks.rate("durable ingests", ingestsPerSecond),
            Remarks.count("applied", UInt64(appliedCount)),
            Remarks.latency("ingest", ingests),
        ]
        if mix != .ingestOnly {
            remarks.append(Remarks.latency("check", checks))
            remarks.append(Remarks.count("checks of fresh events", UInt64(freshCheckCount)))
        }
        if let serverNanosecondsPerIngest {
            remarks.append(Remarks.time("server per ingest", serverNanosecondsPerIngest))
        }
        remarks.append(Remarks.time("one ES256 alone", verificationNanoseconds))
        if let verificationShare {
            remarks.append(Remarks.ratio("three of them, of that", verificationShare))
        }
        remarks.append(Remarks.ratio("rate, of what ES256 allows", rateShare))
        remarks.append(Remarks.rate("signatures before", signaturesPerSecond))
        remarks.append(Remarks.count("signed during the run", UInt64(lateCount)))
        return remarks
    }
}
