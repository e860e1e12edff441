import Testing

@testable import entitled

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("0s", 0), ("1ms", 1), ("250ms", 250), ("30s", 30_000), ("5m", 300_000),
            ("12h", 43_200_000), ("90d", 7_776_000_000), ("007s", 7_000),
            ("9223372036854775807ms", Int64.max), ("106751991167d", 9_223_372_036_828_800_000),
        ] as [(String, Int64)])
    func `a duration is read in its unit`(text: String, milliseconds: Int64) {
        #expect(Quantity.duration(text) == milliseconds)
    }

    @Test(arguments: [
        "", "s", "30", "30 s", " 30s", "30s ", "-1s", "+1s", "1.5s", "30S", "30sec", "1us", "1w",
        "٣s", "9223372036854775808ms", "106751991168d", "1e3s", "0x10s",
    ])
    func `what is no duration is refused`(text: String) {
        #expect(Quantity.duration(text) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("1048576", 1 << 20), ("1B", 1), ("64KiB", 64 << 10),
            ("64MiB", 64 << 20), ("2GiB", 2 << 30), ("8388607TiB", 8_388_607 << 40),
        ] as [(String, Int64)])
    func `a size is read in its unit`(text: String, bytes: Int64) {
        #expect(Quantity.size(text) == bytes)
    }

    @Test(arguments: [
        "", "MiB", "64MB", "64mib", "64 MiB", "64M", "-1", "1.5GiB", "8388608TiB",
        "9223372036854775808",
    ])
    func `what is no size is refused`(text: String) {
        #expect(Quantity.size(text) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1_000_000), ("0.02", 20_000), (".5", 500_000), ("0.000001", 1),
            ("0.1", 100_000), ("9223372036854.775807", Int64.max), ("1e-06", 1), ("1E-6", 1),
            ("2e-2", 20_000), ("1.5e+3", 1_500_000_000), ("10e-7", 1), ("0.0200000", 20_000),
            ("0e99", 0), ("9.223372036854775807e12", Int64.max),
        ] as [(String, Int64)])
    func `a decimal number is read exactly`(text: String, millionths: Int64) {
        #expect(Quantity.millionths(text) == millionths)
    }

    @Test(arguments: [
        "", ".", "1.", "-1", "0.0000001", "1e-7", "15e-7", "1e13", "NaN", "1e", "e1",
        "-1e-3", "1e1.5", "1e+-1", "1e1e1", "1e100", "0x10", "Infinity", "1,5", "1.2.3",
        "9223372036854.775808", "9223372036855",
    ])
    func `what is no decimal number of six decimals is refused`(text: String) {
        #expect(Quantity.millionths(text) == nil)
    }

    @Test(arguments: [0, 1, 999, 1_000, 60_000, 90_000, 86_400_000, 7_776_000_001] as [Int64])
    func `a written duration reads back as itself`(milliseconds: Int64) {
        #expect(Quantity.duration(Quantity.durationText(milliseconds)) == milliseconds)
    }

    @Test(arguments: [0, 1, 1_023, 1_024, 1 << 20, (1 << 20) + 1, 3 << 40] as [Int64])
    func `a written size reads back as itself`(bytes: Int64) {
        #expect(Quantity.size(Quantity.sizeText(bytes)) == bytes)
    }

    @Test(arguments: [0, 1, 20_000, 1_000_000, 1_500_000, Int64.max] as [Int64])
    func `a written decimal number reads back as itself`(value: Int64) {
        #expect(Quantity.millionths(Quantity.millionthsText(value)) == value)
    }
}
