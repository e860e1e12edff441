/// Instants as people write and read them: RFC 3339.
package enum Instant {
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// `2026-03-08T10:00:05.123Z`; UTC.
    package static func text(_ milliseconds: Int64) -> String {
        let millisecond = modulo(milliseconds, millisecondsPerDay)
        let date = civil(daysSince1970: (milliseconds - millisecond) / millisecondsPerDay)
        let second = millisecond / 1_000
        let time =
            "\(digits(second / 3_600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
        return "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))T\(time)"
            + ".\(digits(millisecond % 1_000, 3))Z"
    }

    /// For sentences: `8 March 2026, 10:00:05 UTC`.
    package static func sentence(_ milliseconds: Int64) -> String {
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September",
            "October", "November", "December",
        ]
        let millisecond = modulo(milliseconds, millisecondsPerDay)
        let date = civil(daysSince1970: (milliseconds - millisecond) / millisecondsPerDay)
        let second = millisecond / 1_000
        return "\(date.day) \(months[Int(date.month) - 1]) \(date.year), "
            + "\(digits(second / 3_600, 2)):\(digits(second / 60 % 60, 2)):"
            + "\(digits(second % 60, 2)) UTC"
    }

    /// Reads RFC 3339 (`2026-03-08T10:00:05Z`, an offset, a fraction), a date alone (its beginning
    /// in UTC), or milliseconds since 1970.
    ///
    /// - Returns: Milliseconds since 1970, more than 0; nil when it is none of these.
    package static func parse(_ text: String) -> Int64? {
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), (1...12).contains(month),
            (1...daysIn(month, of: year)).contains(day)
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        var milliseconds = days * millisecondsPerDay
        if !reader.isAtEnd {
            guard reader.skip("T") || reader.skip("t") || reader.skip(" "),
                let time = time(&reader), reader.isAtEnd
            else { return nil }
            milliseconds += time
        }
        return milliseconds > 0 ? milliseconds : nil
    }

    /// `10:00:05.123Z`: milliseconds to add to the day.
    private static func time(_ reader: inout DigitReader) -> Int64? {
        guard let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2),
            reader.skip(":"), let second = reader.number(2), hour < 24, minute < 60,
            second < 61
        else { return nil }
        var milliseconds = ((hour * 60 + minute) * 60 + min(second, 59)) * 1_000
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            milliseconds += fraction
        }
        if reader.skip("Z") || reader.skip("z") { return milliseconds }
        let isBehind = reader.skip("-")
        guard isBehind || reader.skip("+"), let hours = reader.number(2), reader.skip(":"),
            let minutes = reader.number(2), hours < 24, minutes < 60
        else { return nil }
        let offset = (hours * 60 + minutes) * 60_000
        return milliseconds + (isBehind ? offset : -offset)
    }

    /// The proleptic Gregorian date of a day. Years are counted from March, so that the leap day
    /// is a year's last; an era is 400 years.
    private static func civil(
        daysSince1970: Int64
    ) -> (year: Int64, month: Int64, day: Int64) {
        let daysPerEra: Int64 = 146_097
        let shifted = daysSince1970 + 719_468
        let dayOfEra = modulo(shifted, daysPerEra)
        let era = (shifted - dayOfEra) / daysPerEra
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    /// The day of a date that exists; the inverse of `civil`.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let yearOfEra = modulo(shiftedYear, 400)
        let era = (shiftedYear - yearOfEra) / 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func modulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

/// Reads runs of ASCII digits of a known length.
private struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        rest.removeFirst(count)
        return digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// The digits of a fraction as milliseconds; what is finer is cut.
    mutating func fraction() -> Int64? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        let padded = Array(digits.prefix(3)) + Array(repeating: 0x30, count: 3)
        return padded.prefix(3).reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    }
}

/// Lengths of time as people write them: `250ms`, `10s`, `5m`, `1h`.
package enum TimeSpan {
    /// Reads a length of time of at least 1 ms and at most 24 h; nil when it is none.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number > 0 else { return nil }
        let factor: Int64
        switch text.dropFirst(digits.count) {
        case "ms": factor = 1
        case "s": factor = 1_000
        case "m": factor = 60_000
        case "h": factor = 3_600_000
        default: return nil
        }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, milliseconds <= 86_400_000 else { return nil }
        return .milliseconds(milliseconds)
    }

    /// For people: `1 h 5 min`, `12 s`, `40 ms`.
    package static func text(milliseconds: UInt64) -> String {
        switch milliseconds {
        case ..<1_000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1_000) s"
        case ..<3_600_000: "\(milliseconds / 60_000) min \(milliseconds / 1_000 % 60) s"
        default: "\(milliseconds / 3_600_000) h \(milliseconds / 60_000 % 60) min"
        }
    }
}
