/// What was measured in one scenario.
struct GateMeasurement: Equatable, Sendable {
    /// E.g. "check 1x16".
    let scenario: String
    /// How many operations were carried out.
    let operationCount: Int
    /// What they took together.
    let counts: GateCounts
}

/// Measurements beside their thresholds.
struct GateReport: Equatable, Sendable {
    /// One threshold.
    struct Line: Equatable, Sendable {
        let scenario: String
        let kind: String
        /// For one operation; nil = nothing has measured it.
        let measured: Double?
        let limit: Double

        /// Whether the server asks for no more than it may. What was not measured fails: a
        /// threshold that nobody looks at is none.
        var isKept: Bool { measured.map { $0 <= limit } ?? false }
    }

    /// By scenario and kind.
    let lines: [Line]

    /// Compares.
    init(_ measurements: [GateMeasurement], _ thresholds: GateThresholds) {
        let byScenario = Dictionary(
            measurements.map { ($0.scenario, $0) }, uniquingKeysWith: { $1 })
        var lines: [Line] = []
        for (scenario, limits) in thresholds.limits.sorted(by: { $0.key < $1.key }) {
            for (kind, limit) in limits.sorted(by: { $0.key < $1.key }) {
                let measurement = byScenario[scenario]
                let count = measurement?.counts[kind]
                let operations = Double(max(1, measurement?.operationCount ?? 1))
                lines.append(
                    Line(
                        scenario: scenario, kind: kind,
                        measured: count.map { Double($0) / operations }, limit: limit))
            }
        }
        self.lines = lines
    }

    /// Whether all thresholds are kept.
    var isKept: Bool { lines.allSatisfy(\.isKept) }

    /// What to do about what is over.
    static let advice =
        "find what the change asks for: LD_PRELOAD libCCallCounter.so, or ltrace and strace on the"
        + " server; raise a threshold only together with the reason for it"

    /// Four decimals: a read shared by 16 requests is 0.0625.
    static func number(_ value: Double) -> String {
        let scaled = (value * 10_000).rounded()
        guard scaled.magnitude < 1e15 else { return "\(value)" }
        let whole = Int(scaled) / 10_000
        let fraction = Int(scaled) % 10_000
        guard fraction != 0 else { return "\(whole)" }
        let digits = String(10_000 + fraction).dropFirst()
        return "\(whole)." + String(digits).trimmingZeros
    }
}

extension String {
    /// Without zeros at the end.
    fileprivate var trimmingZeros: String {
        var text = self
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
