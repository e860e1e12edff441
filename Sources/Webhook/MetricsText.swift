package import Service

/// The two text forms of Prometheus that are written here.
///
/// See: https://prometheus.io/docs/instrumenting/exposition_formats/ and
/// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
package enum MetricsFormat: Hashable, Sendable {
    /// Text format 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The type of the whole response.
    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// What a scraper with this `Accept` prefers; Prometheus' own form where it says nothing.
    package init(accept: String?) {
        var openMetrics = 0.0
        var text = 0.0
        for part in (accept ?? "").lowercased().split(separator: ",") {
            let pieces = part.split(separator: ";").map(Self.trimmed)
            guard let name = pieces.first else { continue }
            let weight =
                pieces.dropFirst().first { $0.hasPrefix("q=") }
                .map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch name {
            case "application/openmetrics-text": openMetrics = max(openMetrics, weight)
            case "text/plain", "text/*", "*/*": text = max(text, weight)
            default: break
            }
        }
        self = openMetrics > 0 && openMetrics >= text ? .openMetrics : .prometheus
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.filter { $0 != " " && $0 != "\t" })
    }
}

/// A label with its value.
package struct MetricsLabel: Hashable, Sendable {
    let name: String
    let value: String

    /// A label.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Writes families of metrics, each with its HELP and TYPE once.
package struct MetricsText: Sendable {
    /// One series: its labels and its value.
    package typealias Sample = (labels: [MetricsLabel], value: Double)
    /// One histogram of a family, with its labels.
    package typealias HistogramSample = (labels: [MetricsLabel], counts: HistogramCounts)

    private let format: MetricsFormat
    private var lines: [String] = []

    /// Nothing yet.
    package init(_ format: MetricsFormat) {
        self.format = format
    }

    /// A counter: only ever grows. `name` ends in `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        precondition(name.hasSuffix("_total"), "a counter's name ends in _total")
        // OpenMetrics names the family without the suffix of its series.
        head(format == .openMetrics ? String(name.dropLast(6)) : name, help, "counter")
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    /// A gauge: goes up and down.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        head(name, help, "gauge")
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    /// A histogram, its buckets cumulative.
    package mutating func histogram(
        _ name: String, _ help: String, _ samples: [HistogramSample]
    ) {
        head(name, help, "histogram")
        for sample in samples {
            var count: UInt64 = 0
            for (index, places) in sample.counts.counts.enumerated() {
                count += places
                let bound =
                    index < sample.counts.bounds.count
                    ? Self.text(sample.counts.bounds[index]) : "+Inf"
                line("\(name)_bucket", sample.labels + [MetricsLabel("le", bound)], Double(count))
            }
            line("\(name)_sum", sample.labels, sample.counts.sum)
            line("\(name)_count", sample.labels, Double(count))
        }
    }

    /// The whole text.
    package func finished() -> [UInt8] {
        let end = format == .openMetrics ? "# EOF\n" : ""
        return Array((lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n") + end).utf8)
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        lines.append("# HELP \(name) \(Self.escaped(help, quotes: format == .openMetrics))")
        lines.append("# TYPE \(name) \(type)")
    }

    private mutating func line(_ name: String, _ labels: [MetricsLabel], _ value: Double) {
        let texts = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        let braces = texts.isEmpty ? "" : "{\(texts.joined(separator: ","))}"
        lines.append("\(name)\(braces) \(Self.text(value))")
    }

    /// Backslash, line feed and, where asked, quotes.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// "3", "0.25", "1e-05": whole numbers without their ".0", as far as a `Double` has them all.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return "\(whole)" }
        return "\(value)"
    }
}
