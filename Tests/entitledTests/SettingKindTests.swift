import Testing

@testable import entitled

@Suite struct SettingKindTests {
    @Test(
        arguments: [
            (.text(byteCountMax: 3), .text("abc"), .text("abc")),
            (.path, .text("a b"), .text("a b")),
            (.address, .text("localhost:1"), .text("127.0.0.1:1")),
            (.hostAddress, .text("[::1]:0"), .text("[::1]:0")),
            (.boolean, .boolean(true), .boolean(true)), (.boolean, .text("No"), .boolean(false)),
            (.boolean, .text("1"), .boolean(true)), (.integer(0...5), .integer(5), .integer(5)),
            (.integer(0...5), .text("5"), .integer(5)),
            (.duration(0...1_000), .text("1s"), .integer(1_000)),
            (.size(1...2_048), .text("2KiB"), .integer(2_048)),
            (.size(1...2_048), .integer(7), .integer(7)),
            (.memory(1...2_048), .text("1KiB"), .integer(1_024)),
            (.memory(1...2_048), .text("25%"), .text("25%")),
            (.memory(1...2_048), .text("90%"), .text("90%")),
            (.choice(["Production", "Sandbox"]), .text("sandbox"), .text("Sandbox")),
            (.amount, .decimal("0.02"), .integer(20_000)),
            (.amount, .decimal("1e-06"), .integer(1)),
            (.amount, .integer(2), .integer(2_000_000)),
            (.amount, .text("0.5"), .integer(500_000)),
        ] as [(SettingKind, JSON5Value, SettingValue)])
    func `a value of its kind is read`(
        kind: SettingKind, raw: JSON5Value, value: SettingValue
    ) throws {
        #expect(try kind.parse(raw) == value)
    }

    @Test(
        arguments: [
            (.text(byteCountMax: 3), .text("abcd")), (.text(byteCountMax: 3), .text("éé")),
            (.text(byteCountMax: 3), .text("a\0")), (.text(byteCountMax: 3), .integer(1)),
            (.path, .text("a\0b")), (.path, .boolean(true)), (.address, .text("example.com:1")),
            (.hostAddress, .text("unix:/s")), (.hostAddress, .text("9420")),
            (.boolean, .integer(1)), (.boolean, .text("maybe")), (.integer(0...5), .integer(6)),
            (.integer(0...5), .integer(-1)), (.integer(0...5), .text("6")),
            (.integer(0...5), .text("-0")), (.integer(0...5), .decimal("1.5")),
            (.integer(0...5), .boolean(true)), (.duration(0...1_000), .text("1001ms")),
            (.duration(0...1_000), .integer(30)), (.duration(0...1_000), .text("30")),
            (.size(1...2_048), .integer(2_049)), (.size(1...2_048), .text("0")),
            (.memory(1...2_048), .text("0%")), (.memory(1...2_048), .text("91%")),
            (.memory(1...2_048), .text("%")), (.memory(1...2_048), .text("3KiB")),
            (.choice(["a"]), .text("b")), (.choice(["a"]), .boolean(false)),
            (.amount, .integer(-1)), (.amount, .decimal("NaN")), (.amount, .decimal("1e-7")),
            (.text(byteCountMax: 3), .list([])), (.path, .table([])),
        ] as [(SettingKind, JSON5Value)])
    func `a value of another kind is refused with what was expected`(
        kind: SettingKind, raw: JSON5Value
    ) throws {
        let error = try #require(throws: SettingValueError.self) { try kind.parse(raw) }
        #expect(error.expected == kind.expectation)
        #expect(!error.found.isEmpty)
    }
}
