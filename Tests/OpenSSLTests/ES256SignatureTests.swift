import OpenSSL
import Testing

@Suite struct ES256SignatureTests {
    /// The order of P-256.
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25,
        0x51,
    ]
    static let zero = [UInt8](repeating: 0, count: 32)
    static let one = [UInt8](repeating: 0, count: 31) + [1]
    let message = Array("header.payload".utf8)

    @Test func `a signature is valid for its own message and key only`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let other = try #require(SigningKey(generatedOn: .p256).es256PublicKey())
        let signature = try key.signature(of: message)
        #expect(signature.count == ES256PublicKey.signatureByteCount)
        #expect(publicKey.isValid(signature: signature, of: message))
        #expect(!publicKey.isValid(signature: signature, of: (message + [0])))
        #expect(!publicKey.isValid(signature: signature, of: [UInt8]()))
        #expect(!other.isValid(signature: signature, of: message))
    }

    @Test func `high bits and leading zeros of r and s make no difference`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let kinds: [([UInt8]) -> Bool] = [
            { $0[0] >= 0x80 }, { $0[32] >= 0x80 }, { $0[0] == 0 }, { $0[32] == 0 },
            { $0[0] < 0x80 && $0[32] < 0x80 },
        ]
        for kind in kinds {
            var signature = try key.signature(of: message)
            while !kind(signature) { signature = try key.signature(of: message) }
            #expect(publicKey.isValid(signature: signature, of: message))
            if signature[32] == 0 {
                let short = Array(signature[..<32] + signature[33...])
                #expect(!publicKey.isValid(signature: short, of: message))
            }
        }
    }

    @Test func `the other s is as good, as the standard has it`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let signature = try key.signature(of: message)
        var mirrored = Array(signature[..<32])
        var digits: [UInt8] = []
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(Self.order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            digits.insert(UInt8(truncatingIfNeeded: difference), at: 0)
        }
        mirrored += digits
        #expect(publicKey.isValid(signature: mirrored, of: message))
    }

    @Test(arguments: [
        ("zero bytes", zero + zero), ("r = 0", zero + one), ("s = 0", one + zero),
        ("r = n", order + one), ("s = n", one + order), ("both n", order + order),
        ("all bits", [UInt8](repeating: 0xFF, count: 64)), ("one and one", one + one),
        ("nothing", []), ("DER of zeros", [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00]),
    ])
    func `a signature of nothing is refused`(name: String, signature: [UInt8]) throws {
        let publicKey = try #require(SigningKey(generatedOn: .p256).es256PublicKey())
        #expect(!publicKey.isValid(signature: signature, of: message))
    }

    @Test func `every length but 64 is refused`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let signature = try key.signature(of: message)
        for count in 0...80 where count != 64 {
            let changed = Array((signature + [UInt8](repeating: 0, count: 16)).prefix(count))
            #expect(!publicKey.isValid(signature: changed, of: message))
        }
        #expect(
            !publicKey.isValid(
                signature: try key.derSignature(of: message), of: message))
    }

    @Test func `every flipped bit is refused`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let signature = try key.signature(of: message)
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!publicKey.isValid(signature: changed, of: message))
        }
        #expect(publicKey.isValid(signature: signature, of: message))
    }

    @Test func `a key on another curve makes no ES256 key`() throws {
        #expect(try SigningKey(generatedOn: .p384).es256PublicKey() == nil)
        #expect(ES256PublicKey(try TestChain(leafCurve: .p384).leaf) == nil)
        #expect(ES256PublicKey(try TestChain().leaf) != nil)
    }

    @Test func `threads may share one key`() async throws {
        let key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let message = message
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let own = message + [UInt8(index)]
                    guard let signature = try? key.signature(of: own) else { return false }
                    return publicKey.isValid(signature: signature, of: own)
                        && !publicKey.isValid(signature: signature, of: message)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
