import OpenSSL
import Testing

@testable import Authorization

@Suite struct KeyTextTests {
    private func range(_ bytes: [UInt8]) -> Range<Int>? { KeyText.idRange(in: bytes.span) }

    private let key = KeyText.text(id: "k1", secret: Array(0..<32))

    @Test func `a key has its parts, and its checksum is that of all before it`() {
        #expect(key == "entk_k1_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" + key.suffix(6))
        #expect(KeyText.isWellFormed(key))
        #expect(key.utf8.count <= KeyText.byteCountMax)
    }

    @Test func `the longest key is no longer than what is looked at`() {
        let id = String(repeating: "a", count: KeyText.idByteCountMax)
        let longest = KeyText.text(id: id, secret: Array(repeating: 255, count: 32))
        #expect(longest.utf8.count <= KeyText.byteCountMax)
        #expect(KeyText.isWellFormed(longest))
        #expect(range(Array(longest.utf8)) == 5..<37)
    }

    @Test func `a mistyped key is seen without a server`() {
        let bytes = Array(key.utf8)
        for index in bytes.indices {
            var mistyped = bytes
            mistyped[index] = mistyped[index] == 0x41 ? 0x42 : 0x41
            #expect(!KeyText.isWellFormed(String(decoding: mistyped, as: UTF8.self)))
        }
        #expect(!KeyText.isWellFormed(String(key.dropLast())))
        #expect(!KeyText.isWellFormed(key + "A"))
        #expect(!KeyText.isWellFormed(""))
    }

    @Test func `two keys have nothing in common, and their ids are ids`() {
        var seed: UInt8 = 0
        let made = (0..<20).map { _ in
            KeyText.make { count in
                (0..<count).map { _ in
                    seed &+= 41
                    return seed
                }
            }
        }
        #expect(Set(made.map(\.text)).count == 20)
        #expect(made.allSatisfy { KeyText.isID($0.id) && KeyText.isWellFormed($0.text) })
        #expect(made.allSatisfy { $0.text.hasPrefix("entk_\($0.id)_") })
    }

    @Test(
        arguments: [
            ("entk_a_b", 5..<6), ("entk_a1-z_", 5..<9), ("entk_", nil), ("entk__b", nil),
            ("entk_ab", nil), ("ENTK_a_b", nil), ("entk_A_b", nil), ("entk_\u{E9}_b", nil),
            ("entk_a\u{0}_b", nil), (" entk_a_b", nil), ("", nil),
        ] as [(String, Range<Int>?)])
    func `the id stands behind the prefix`(text: String, expected: Range<Int>?) {
        #expect(range(Array(text.utf8)) == expected)
    }

    @Test func `an id of 33 bytes, and a key of 97, are none`() {
        let long = "entk_" + String(repeating: "a", count: 33) + "_b"
        #expect(range(Array(long.utf8)) == nil)
        let bytes = Array("entk_a_".utf8) + [UInt8](repeating: 0x41, count: 90)
        #expect(range(bytes) == nil)
        #expect(range(Array(bytes.dropLast())) == 5..<6)
    }

    @Test func `what is stored is what sha256sum says of the key's text`() {
        let digest = "\(KeyText.digest(of: "abc"))"
        #expect(digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
