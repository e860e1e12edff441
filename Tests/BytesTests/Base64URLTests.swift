import Bytes
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
    ])
    func `text carries no padding`(plain: String, text: String) throws {
        #expect(Base64URL.encode(Array(plain.utf8)) == Array(text.utf8))
        #expect(try decode(text) == Array(plain.utf8))
    }

    @Test func `characters 62 and 63 are hyphen and underscore`() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(Base64URL.encode(bytes) == Array("----____".utf8))
        #expect(try decode("----____") == bytes)
    }

    @Test func `every length survives the round trip`() throws {
        for count in 0...300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 11 + count) }
            #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        ("A", Base64Error.impossibleLength(characterCount: 1)),
        ("AAAAA", .impossibleLength(characterCount: 5)),
        ("Zg==", .foreignCharacter(offset: 2)),
        ("Zm8=", .foreignCharacter(offset: 3)),
        ("++++", .foreignCharacter(offset: 0)),
        ("AA/A", .foreignCharacter(offset: 2)),
        ("AAA\n", .foreignCharacter(offset: 3)),
        ("AA\r\nAA", .foreignCharacter(offset: 2)),
        ("AA A", .foreignCharacter(offset: 2)),
        ("A.", .foreignCharacter(offset: 1)),
        ("Zh", .looseBits),
        ("Zm9", .looseBits),
    ])
    func `a text that is not strict Base64URL is refused`(text: String, error: Base64Error) {
        #expect(throws: error) { try decode(text) }
    }

    @Test func `of the 64 last characters of a signature only 4 have no loose bits`() {
        let start = String(repeating: "A", count: 85)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let accepted = alphabet.filter { (try? decode(start + String($0))) != nil }
        #expect(accepted == "AQgw")
    }

    private func decode(_ text: String) throws(Base64Error) -> [UInt8] {
        let bytes = Array(text.utf8)
        return try Base64URL.decode(bytes)
    }
}
