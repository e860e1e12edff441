/// Amounts as people write them.
package enum Amount {
    /// Thousandths: `9.99`, `-0.005`; two decimals at least.
    package static func thousandths(_ value: Int64) -> String { decimal(value, digitCount: 3) }

    /// Millionths: `0.32`, `0.000001`; two decimals at least.
    package static func millionths(_ value: Int64) -> String { decimal(value, digitCount: 6) }

    /// Thousandths of a percent: `100`, `33.333`.
    package static func percent(_ value: Int32) -> String {
        var text = decimal(Int64(value), digitCount: 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    private static func decimal(_ value: Int64, digitCount: Int) -> String {
        let magnitude = String(value.magnitude)
        let padding = String(repeating: "0", count: max(0, digitCount + 1 - magnitude.count))
        let digits = padding + magnitude
        var fraction = digits.suffix(digitCount)
        while fraction.count > 2, fraction.hasSuffix("0") { fraction.removeLast() }
        return (value < 0 ? "-" : "") + digits.dropLast(digitCount) + "." + fraction
    }
}
