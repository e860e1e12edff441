import Testing

@testable import Authorization

@Suite struct KeyInstantTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799),
            ("2026-12-01T12:00:00Z", 1_796_126_400), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func `instants are read and written`(text: String, seconds: Int64) {
        #expect(KeyInstant.milliseconds(text) == seconds * 1_000)
        #expect(KeyInstant.text(seconds * 1_000 + 999) == text)
    }

    @Test(arguments: [
        "", "2026-12-01", "2026-12-01T12:00:00", "2026-12-01T12:00:00+01:00",
        "2026-12-01 12:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-12-00T00:00:00Z",
        "2026-12-32T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T12:60:00Z",
        "2026-12-01T12:00:60Z", "1969-12-31T23:59:59Z", "+026-12-01T12:00:00Z",
        "2026-12-01t12:00:00z", "2026-12-01T12:00:00.1Z", "\u{0662}026-12-01T12:00:0Z",
    ])
    func `nothing else is one`(text: String) { #expect(KeyInstant.milliseconds(text) == nil) }

    @Test func `every day of four centuries comes back as it went`() {
        for day in stride(from: Int64(0), to: 146_097, by: 13) {
            let milliseconds = day * 86_400_000 + 3_723_000
            #expect(KeyInstant.milliseconds(KeyInstant.text(milliseconds)) == milliseconds)
        }
    }
}
