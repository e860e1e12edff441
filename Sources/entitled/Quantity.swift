/// Reading and writing of the units that settings are written in.
///
/// A unit is part of the value: `30` alone could be seconds or milliseconds, so it is refused.
enum Quantity {
    /// The units of durations and their milliseconds, smallest first.
    static let durationUnits: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The units of sizes and their bytes, smallest first.
    static let sizeUnits: [(suffix: String, bytes: Int64)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]

    /// Milliseconds of a duration such as `250ms`, `30s`, `5m`, `12h` or `90d`; `nil` when `text`
    /// is none or exceeds 64 bits.
    static func duration(_ text: String) -> Int64? {
        if text == "0" { return 0 }
        return scaled(text, units: durationUnits.map { ($0.suffix, $0.milliseconds) })
    }

    /// Bytes of a size such as `64MiB`; a bare integer is bytes. `nil` when `text` is none.
    static func size(_ text: String) -> Int64? {
        wholeNumber(text) ?? scaled(text, units: sizeUnits.map { ($0.suffix, $0.bytes) })
    }

    /// Millionths of a decimal number such as `0.02` or `2e-2`; `nil` when `text` is none,
    /// negative, not a whole number of millionths, or does not fit.
    ///
    /// Programs that write JSON give small numbers an exponent: `1e-06`.
    static func millionths(_ text: String) -> Int64? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard parts.count <= 2 else { return nil }
        var exponent = 0
        if parts.count == 2 {
            guard let value = self.exponent(parts[1]) else { return nil }
            exponent = value
        }
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count == 2 ? mantissa[1] : ""
        guard mantissa.count == 1 || mantissa.count == 2 && !fraction.isEmpty else { return nil }
        // More than 40 digits have no place in what fits.
        let digits = mantissa[0] + fraction
        guard isDigits(digits), digits.utf8.count <= 40 else { return nil }
        return shifted(digits, by: exponent - fraction.utf8.count + 6)
    }

    /// Two digits at most, with or without a sign.
    private static func exponent(_ text: Substring) -> Int? {
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text
        guard isDigits(digits), digits.utf8.count <= 2, let value = Int(digits) else { return nil }
        return text.hasPrefix("-") ? -value : value
    }

    /// The whole number that `digits` and a power of ten make; `nil` where it is none.
    private static func shifted(_ digits: Substring, by power: Int) -> Int64? {
        var digits = digits.drop { $0 == "0" }
        guard !digits.isEmpty else { return 0 }
        var power = power
        while power < 0 {
            guard digits.last == "0" else { return nil }
            digits.removeLast()
            power += 1
        }
        guard digits.utf8.count + power <= 19 else { return nil }
        return Int64(digits + String(repeating: "0", count: power))
    }

    /// `milliseconds` in the largest unit that divides it, `0s` for zero.
    static func durationText(_ milliseconds: Int64) -> String {
        guard milliseconds != 0 else { return "0s" }
        for unit in durationUnits.reversed() where milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }

    /// `bytes` in the largest unit that divides it, `0B` for zero.
    static func sizeText(_ bytes: Int64) -> String {
        guard bytes != 0 else { return "0B" }
        for unit in sizeUnits.reversed() where bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.suffix)"
        }
        return "\(bytes)B"
    }

    /// Millionths as a decimal number without trailing zeros.
    static func millionthsText(_ value: Int64) -> String {
        let fraction = value % 1_000_000
        guard fraction != 0 else { return String(value / 1_000_000) }
        var digits = String(fraction + 1_000_000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(value / 1_000_000).\(digits)"
    }

    /// The value of a string of ASCII digits, without sign or spaces.
    static func wholeNumber(_ text: String) -> Int64? {
        isDigits(text[...]) ? Int64(text) : nil
    }

    /// Whether `text` is one or more ASCII digits and nothing else.
    static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func scaled(_ text: String, units: [(suffix: String, factor: Int64)]) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let number = wholeNumber(String(digits)),
            let unit = units.first(where: { $0.suffix == suffix })
        else { return nil }
        let (value, overflow) = number.multipliedReportingOverflow(by: unit.factor)
        return overflow ? nil : value
    }
}
