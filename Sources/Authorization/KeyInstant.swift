/// Instants as they stand in the keys file: `2027-03-01T00:00:00Z`, always UTC and whole seconds.
package enum KeyInstant {
    /// The milliseconds since 1970 of an instant; nil where the text is none from 1970 to 9999.
    package static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        for (index, separator) in zip([4, 7, 10, 13, 16, 19], "--T::Z".utf8)
        where bytes[index] != separator { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard 0x30...0x39 ~= byte else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19), year >= 1970, 1...12 ~= month,
            day >= 1, day <= dayCount(ofMonth: month, in: year), hour < 24, minute < 60,
            second < 60
        else { return nil }
        let seconds = (days(year, month, day) * 24 + hour) * 3_600 + minute * 60 + second
        return seconds * 1_000
    }

    /// An instant from 1970 to 9999 as text, cut to its second.
    package static func text(_ milliseconds: Int64) -> String {
        let seconds = min(max(0, milliseconds / 1_000), 253_402_300_799)
        let (year, month, day) = date(ofDay: seconds / 86_400)
        let rest = seconds % 86_400
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))Z"
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func dayCount(ofMonth month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970, counted from March so that the leap day is a year's last.
    ///
    /// See: https://howardhinnant.github.io/date_algorithms.html, days_from_civil.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func date(ofDay day: Int64) -> (Int64, Int64, Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
