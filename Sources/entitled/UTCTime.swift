/// Instants as people and log collectors read them.
enum UTCTime {
    /// RFC 3339 in UTC with milliseconds: `2026-03-08T10:00:05.123Z`.
    static func text(_ milliseconds: Int64) -> String {
        let millisecondsPerDay: Int64 = 86_400_000
        let millisecond = modulo(milliseconds, millisecondsPerDay)
        let (year, month, day) = civil(
            daysSince1970: (milliseconds - millisecond) / millisecondsPerDay)
        let second = millisecond / 1_000
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + "\(digits(second / 3_600, 2)):\(digits(second / 60 % 60, 2)):"
            + "\(digits(second % 60, 2)).\(digits(millisecond % 1_000, 3))Z"
    }

    /// The proleptic Gregorian date of a day. Years are counted from March, so that the leap day
    /// is a year's last; an era is 400 years.
    private static func civil(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

    private static func modulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
