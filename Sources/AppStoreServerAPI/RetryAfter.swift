internal import Entitlements
internal import HTTP

/// Reads what headers of Apple's say about time.
enum RetryAfter {
    /// The farthest instant that is believed: Apple counts by the hour.
    static let farthestMilliseconds: Int64 = 65 * 60_000

    /// The instant of a `Retry-After`: with Apple an absolute time in milliseconds since 1970, not
    /// the seconds or the date of RFC 9110.
    ///
    /// - Returns: nil when it is absent, no number, past, or too far away to be meant.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    static func instant(_ fields: [HTTPField], at now: Timestamp) -> Timestamp? {
        let blanks: Set<Character> = [" ", "\t"]
        guard let text = fields.value("Retry-After") else { return nil }
        let trimmed = text.drop { blanks.contains($0) }
        let digits = trimmed.reversed().drop { blanks.contains($0) }.reversed()
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }),
            let milliseconds = Int64(String(digits))
        else { return nil }
        let instant = Timestamp(milliseconds: milliseconds)
        guard instant > now, instant <= now.adding(milliseconds: farthestMilliseconds) else {
            return nil
        }
        return instant
    }
}

/// The date of a header in the form that RFC 9110 5.6.7 prescribes.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads `Wed, 08 Apr 2026 10:00:02 GMT`.
    ///
    /// - Returns: nil for anything else, the obsolete forms included.
    static func instant(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]),
            let month = months.firstIndex(of: words[2]), let year = Int64(words[3]),
            (1...31).contains(day), (1970...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]),
            (0...60).contains(time[2])
        else { return nil }
        let days = days(year: year, month: Int64(month) + 1, day: day)
        let seconds = days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
        return Timestamp(milliseconds: seconds * 1_000)
    }

    /// Days since 1970-01-01 in the Gregorian calendar; years are taken to begin in March, so that
    /// the leap day is their last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
