/// The lexical classes of JSON5: which scalars are spaces, names and numbers.
enum JSON5Scalars {
    static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\r" || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "\t", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}": true
        default: isLineEnd(scalar) || scalar.properties.generalCategory == .spaceSeparator
        }
    }

    /// ECMAScript 5.1's IdentifierName, without escapes.
    static func isIdentifier(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        if scalar == "$" || scalar == "_" { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .letterNumber:
            return true
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation:
            return !first
        default:
            return !first && (scalar == "\u{200c}" || scalar == "\u{200d}")
        }
    }

    static func startsNumber(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar) || scalar == "+" || scalar == "-" || scalar == "."
    }

    /// Letters are included, so that `12abc` is refused as one piece.
    static func continuesNumber(_ scalar: Unicode.Scalar) -> Bool {
        startsNumber(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// The number that `text` writes, `nil` when it is none.
    static func number(_ text: String) -> JSON5Value? {
        var digits = text[...]
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits.removeFirst() }
        if digits == "Infinity" || digits == "NaN" { return .decimal(text) }
        let sign = isNegative ? "-" : ""
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            let hexadecimal = digits.dropFirst(2)
            guard !hexadecimal.isEmpty, hexadecimal.allSatisfy(\.isHexDigit) else { return nil }
            return Int64(sign + hexadecimal, radix: 16).map { .integer($0) } ?? .decimal(text)
        }
        let parts = digits.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard parts.count <= 2, isMantissa(parts[0]), parts.count == 1 || isExponent(parts[1])
        else { return nil }
        if parts.count == 1, !digits.contains("."), let integer = Int64(sign + digits) {
            return .integer(integer)
        }
        return .decimal(sign + digits)
    }

    private static func isMantissa(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.contains(where: { !$0.isEmpty }) else { return false }
        guard parts.allSatisfy({ $0.isEmpty || Quantity.isDigits($0) }) else { return false }
        return parts[0].count <= 1 || !parts[0].hasPrefix("0")
    }

    private static func isExponent(_ text: Substring) -> Bool {
        let digits = text.hasPrefix("+") || text.hasPrefix("-") ? text.dropFirst() : text
        return Quantity.isDigits(digits)
    }
}
