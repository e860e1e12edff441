import Testing

@testable import entitled

@Suite struct JSON5ScalarsTests {
    @Test(arguments: [" ", "\t", "\n", "\r", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\u{2028}"])
    func `every space of the language is a space`(text: String) {
        #expect(text.unicodeScalars.allSatisfy(JSON5Scalars.isSpace))
    }

    @Test func `a name may hold digits and marks, and not begin with them`() {
        for scalar in "9\u{301}\u{200d}".unicodeScalars {
            #expect(JSON5Scalars.isIdentifier(scalar, first: false))
            #expect(!JSON5Scalars.isIdentifier(scalar, first: true))
        }
        for scalar in "$_aÜ漢".unicodeScalars {
            #expect(JSON5Scalars.isIdentifier(scalar, first: true))
        }
        for scalar in "-. \"{".unicodeScalars {
            #expect(!JSON5Scalars.isIdentifier(scalar, first: false))
        }
    }

    @Test(arguments: [
        "", "+", "-", "0x", "0xg", "00", "01", "1e", "1e+", ".", "e1", "1.2.3", "1ee2",
    ])
    func `what is no number is none`(text: String) {
        #expect(JSON5Scalars.number(text) == nil)
    }
}
