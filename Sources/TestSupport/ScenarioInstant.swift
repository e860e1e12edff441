package import Entitlements

/// Instants as scenario files write them: `2026-03-01`, `2026-03-01T12:00`, `…:05`, `…:05.250`,
/// each with or without a final `Z`; always UTC.
package enum ScenarioInstant {
    /// The instant that `text` names; nil when it is none.
    package static func parse(_ text: String) -> Timestamp? {
        var text = Substring(text)
        if text.last == "Z" { text = text.dropLast() }
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        guard halves.count == 1 || halves.count == 2, let day = day(halves[0]) else { return nil }
        let time = halves.count == 2 ? milliseconds(halves[1]) : 0
        return time.map { Timestamp(milliseconds: day * 86_400_000 + $0) }
    }

    /// `instant` as a file would write it.
    package static func text(_ instant: Timestamp) -> String {
        let (day, time) = instant.milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, dayOfMonth) = civil(day)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        guard time != 0 else { return date }
        let (seconds, fraction) = time.flooredDivision(by: 1_000)
        let clock =
            "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):"
            + "\(padded(seconds % 60, 2))"
        return date + "T" + clock + (fraction == 0 ? "" : ".\(padded(fraction, 3))") + "Z"
    }

    private static func day(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 4, let year = number(parts[0]),
            let month = number(parts[1]), let day = number(parts[2]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        return daysSince1970(year, month, day)
    }

    private static func milliseconds(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = number(parts[0]),
            let minute = number(parts[1]), hour < 24, minute < 60
        else { return nil }
        var result = (hour * 60 + minute) * 60_000
        guard parts.count == 3 else { return result }
        let second = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(second.count), let whole = number(second[0]), whole < 60 else {
            return nil
        }
        result += whole * 1_000
        guard second.count == 2 else { return result }
        guard second[1].count == 3, let fraction = number(second[1]) else { return nil }
        return result + fraction
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = "\(value)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Howard Hinnant's days_from_civil: the count of days before a date of the Gregorian calendar.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.flooredDivision(by: 400)
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Int64 {
    /// Quotient and remainder with a remainder that is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
