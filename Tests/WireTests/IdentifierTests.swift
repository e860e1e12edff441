import Testing
import Wire

@Suite struct IdentifierTests {
    @Test(arguments: [(0, false), (1, true), (128, true), (129, false)])
    func `an identifier has 1 to 128 bytes`(byteCount: Int, isValid: Bool) {
        #expect(Identifier.isValid(Text([UInt8](repeating: 0x61, count: byteCount))) == isValid)
    }

    @Test func `a NUL inside is as good as any byte`() {
        #expect(Identifier.isValid(Text([0])))
        #expect(Identifier.isValid(Text(hex("61 00 62"))))
    }

    @Test(
        arguments: [
            "C3", "C328", "80", "C080", "C1BF", "E08080", "E09FBF", "EDA080", "EDBFBF", "F0808080",
            "F08FBFBF", "F4908080", "F5808080", "FF", "E282", "F09F92", "6162636465666768C3",
            "61626364656667686162636465666768E2 82",
        ])
    func `what is no UTF-8 is no identifier`(digits: String) {
        #expect(!Identifier.isValid(Text(hex(digits))))
    }

    @Test(
        arguments: [
            "C280", "DFBF", "E0A080", "ED9FBF", "EE8080", "EFBFBF", "F0908080", "F48FBFBF",
            "6162636465666768C3A9", "E282AC", "F09F92A9",
        ])
    func `the edges of UTF-8 are identifiers`(digits: String) {
        #expect(Identifier.isValid(Text(hex(digits))))
    }

    @Test func `the fast check and the standard library agree`() {
        var generator = SeededGenerator(seed: 3)
        let alphabet: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC2, 0xC3, 0xE0, 0xED, 0xA0, 0x9F, 0xE2, 0xF0, 0x90,
            0xF4, 0x8F,
        ]
        for _ in 0..<60_000 {
            let count = Int.random(in: 1...12, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let isText = String(validating: bytes, as: UTF8.self) != nil
            #expect(Identifier.isValid(Text(bytes)) == isText, "\(bytes)")
        }
    }
}
