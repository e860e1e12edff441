/// Figures as people read them.
enum Figure {
    /// `1,234,567`.
    static func whole(_ value: UInt64) -> String {
        var text = ""
        for (index, digit) in String(value).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// `1,234,567/s`.
    static func rate(_ perSecond: Double) -> String {
        whole(UInt64(max(0, min(perSecond, 1e15)).rounded())) + "/s"
    }

    /// Nanoseconds as microseconds with three digits that mean something: `8.14`, `107`, `25,300`.
    static func microseconds(_ nanoseconds: UInt64) -> String {
        let value = Double(nanoseconds) / 1_000
        if value < 10 { return fixed(value, 2) }
        return value < 100 ? fixed(value, 1) : whole(UInt64(value.rounded()))
    }

    /// `43 %`.
    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    /// As few decimals as it takes, at most three: `5`, `0.25`.
    static func short(_ value: Double) -> String {
        var text = fixed(value, 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Exactly so many decimals.
    static func fixed(_ value: Double, _ decimalCount: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "-" }
        var scale = 1.0
        for _ in 0..<decimalCount { scale *= 10 }
        let scaled = Int64((value * scale).rounded())
        let digits = String(scaled.magnitude)
        let padded =
            String(repeating: "0", count: max(0, decimalCount + 1 - digits.count)) + digits
        let sign = scaled < 0 ? "-" : ""
        guard decimalCount > 0 else { return sign + padded }
        return sign + padded.dropLast(decimalCount) + "." + padded.suffix(decimalCount)
    }

    /// The middle of some values; of two middle ones, their mean. 0 without any.
    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
