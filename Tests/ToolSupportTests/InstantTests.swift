import Testing

@testable import ToolSupport

@Suite struct InstantTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_772_964_005_123, "2026-03-08T10:00:05.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `instants are written as RFC 3339`(milliseconds: Int64, text: String) {
        #expect(Instant.text(milliseconds) == text)
        if milliseconds > 0 { #expect(Instant.parse(text) == milliseconds) }
    }

    @Test(
        arguments: [
            ("2026-03-08", 1_772_928_000_000), ("2026-03-08T10:00:05Z", 1_772_964_005_000),
            ("2026-03-08T12:00:05+02:00", 1_772_964_005_000),
            ("2026-03-08 10:00:05.5z", 1_772_964_005_500), ("1772964005000", 1_772_964_005_000),
        ] as [(String, Int64)])
    func `the ways to write one mean the same`(text: String, milliseconds: Int64) {
        #expect(Instant.parse(text) == milliseconds)
    }

    @Test(arguments: [
        "", "0", "2026-13-01", "2026-02-29", "2026-03-08T24:00:00Z", "2026-03-08T10:00", "tomorrow",
        "2026-03-08T10:00:05Zx", "1969-12-31",
    ])
    func `what is no instant is refused`(text: String) { #expect(Instant.parse(text) == nil) }

    @Test func `a sentence has the month's name`() {
        #expect(Instant.sentence(1_772_964_005_000) == "8 March 2026, 10:00:05 UTC")
    }

    @Test(
        arguments: [
            ("250ms", 250), ("10s", 10_000), ("5m", 300_000), ("24h", 86_400_000),
        ] as [(String, Int64)])
    func `lengths of time are read`(text: String, milliseconds: Int64) {
        #expect(TimeSpan.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "0s", "10", "s", "25h", "-1s", "1.5s"])
    func `what is no length of time is refused`(text: String) {
        #expect(TimeSpan.parse(text) == nil)
    }

    @Test func `lengths of time are told roughly`() {
        #expect(TimeSpan.text(milliseconds: 40) == "40 ms")
        #expect(TimeSpan.text(milliseconds: 12_345) == "12 s")
        #expect(TimeSpan.text(milliseconds: 65_000) == "1 min 5 s")
        #expect(TimeSpan.text(milliseconds: 3_900_000) == "1 h 5 min")
    }
}
