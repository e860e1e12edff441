import Bytes
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    static let published: [(String, String)] = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: published)
    func `the published vectors hold in both directions`(plain: String, text: String) throws {
        #expect(Base64.encode(Array(plain.utf8)) == Array(text.utf8))
        #expect(try decode(text) == Array(plain.utf8))
    }

    @Test func `every length and every byte survives the round trip`() throws {
        for count in 0...300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
            let text = Base64.encode(bytes)
            #expect(text.count % 4 == 0)
            #expect(try Base64.decode(text) == bytes)
        }
    }

    @Test(arguments: [
        ("Zg=", Base64Error.impossibleLength(characterCount: 3)),
        ("Zg", .impossibleLength(characterCount: 2)),
        ("Z", .impossibleLength(characterCount: 1)),
        ("Zm9v=", .impossibleLength(characterCount: 5)),
        ("Z===", .foreignCharacter(offset: 1)),
        ("====", .foreignCharacter(offset: 0)),
        ("Zg==Zg==", .foreignCharacter(offset: 2)),
        ("Zm9v\nZm8", .foreignCharacter(offset: 4)),
        ("Zm-v", .foreignCharacter(offset: 2)),
        ("Zm9_", .foreignCharacter(offset: 3)),
        ("Zm 9", .foreignCharacter(offset: 2)),
        ("Zm9\0", .foreignCharacter(offset: 3)),
        ("Zh==", .looseBits),
        ("Zm9=", .looseBits),
    ])
    func `a text that is not strict Base64 is refused`(text: String, error: Base64Error) {
        #expect(throws: error) { try decode(text) }
    }

    @Test func `no byte outside of the alphabet is taken at any place`() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for place in 0..<3 {
            for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
                var text = Array("AAAA".utf8)
                text[place] = byte
                #expect(throws: Base64Error.foreignCharacter(offset: place)) {
                    try Base64.decode(text)
                }
            }
        }
    }

    private func decode(_ text: String) throws(Base64Error) -> [UInt8] {
        let bytes = Array(text.utf8)
        return try Base64.decode(bytes)
    }
}
