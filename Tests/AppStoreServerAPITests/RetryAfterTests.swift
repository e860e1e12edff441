@testable import AppStoreServerAPI
import Entitlements
import HTTP
import TestSupport
import Testing

@Suite struct RetryAfterTests {
    private static let moments: [(String, Int64)] = [
        ("1775642402500", 2_500), (" 1775642402500\t", 2_500), ("1775642400001", 1),
        ("1775646300000", 3_900_000),
    ]

    @Test(arguments: moments)
    func `a moment in milliseconds that can be meant is believed`(text: String, wait: Int64) {
        let fields = [HTTPField("retry-after", text)]
        #expect(RetryAfter.instant(fields, at: .april8()) == .april8(wait))
    }

    @Test(arguments: [
        "", "-5", "0", "3", "1775642400000", "1775642399999", "1775646300001", "99999999999999",
        "999999999999999999999999", "Wed, 08 Apr 2026 10:00:02 GMT", "1775642402.5",
        "+1775642402500", "1775642402500ms", "١٧٧٥٦٤٢٤٠٢٥٠٠", "1775642402500, 1775642402500",
    ])
    func `anything else is as good as nothing`(text: String) {
        let fields = [HTTPField("Retry-After", text)]
        #expect(RetryAfter.instant(fields, at: .april8()) == nil)
    }

    @Test func `nothing is nothing`() {
        #expect(RetryAfter.instant([], at: .april8()) == nil)
    }

    private static let dates: [(String, Int64)] = [
        ("Wed, 08 Apr 2026 10:00:02 GMT", 1_775_642_402_000),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199_000),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200_000),
        ("Sun, 01 Mar 2026 00:00:00 GMT", Desk.march),
    ]

    @Test(arguments: dates)
    func `a date of a header is read`(text: String, milliseconds: Int64) {
        #expect(HTTPDate.instant(text) == Timestamp(milliseconds: milliseconds))
    }

    @Test func `the stand-in writes dates that are read`() throws {
        for day in 0..<800 {
            let instant = Desk.march + Int64(day) * 86_400_000 + 3_723_000
            let appStore = try Desk.appStore(TestClock(instant))
            let date = appStore.respond(to: HTTPRequest(target: "/")).fields.value("Date")
            #expect(date.flatMap(HTTPDate.instant) == Timestamp(milliseconds: instant))
        }
    }

    @Test(arguments: [
        "", "Wed, 08 Apr 2026 10:00:02", "Wednesday, 08-Apr-26 10:00:02 GMT",
        "Wed Apr  8 10:00:02 2026", "Wed, 32 Apr 2026 10:00:02 GMT",
        "Wed, 08 Foo 2026 10:00:02 GMT", "Wed, 08 Apr 2026 24:00:00 GMT",
        "Wed, 08 Apr 2026 10:60:00 GMT", "Wed, 08 Apr 99999999999999999999 10:00:00 GMT",
    ])
    func `what is no date is none`(text: String) {
        #expect(HTTPDate.instant(text) == nil)
    }
}
