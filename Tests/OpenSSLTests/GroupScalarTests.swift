import Testing

@testable import OpenSSL

@Suite struct GroupScalarTests {
    private static func scalar(_ digits: String) -> GroupScalar {
        let characters = Array(digits)
        let bytes = (0..<32).map { index in
            UInt8(String(characters[2 * index..<2 * index + 2]), radix: 16) ?? 0
        }
        return GroupScalar(bigEndian: bytes.span)
    }

    /// Computed with another library.
    private static let inverses: [(String, String)] = [
        (
            "0000000000000000000000000000000000000000000000000000000000000001",
            "0000000000000000000000000000000000000000000000000000000000000001"
        ),
        (
            "0000000000000000000000000000000000000000000000000000000000000002",
            "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a9"
        ),
        (
            "0000000000000000000000000000000000000000000000000000000000000003",
            "aaaaaaaa00000000aaaaaaaaaaaaaaaa7def51c91a0fbf034d26872ca84218e1"
        ),
        (
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550",
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"
        ),
        (
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254f",
            "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8"
        ),
        (
            "0000000000000000000000000000000000000000000000010000000000000000",
            "ccd1c8aa212ef3a4ded10c5bee00bc4eca5113bcafc4ea28230102a06d6251dc"
        ),
        (
            "00000000000000000000000000000000ffffffffffffffffffffffffffffffff",
            "3f4e831bd0bde84c0d63bebb5a459141e47da0f5ed75e4395aa6549a64a5a7ce"
        ),
        (
            "8000000000000000000000000000000000000000000000000000000000000000",
            "c1a0cc66920b83d20ff16c083cc0ee4b75bde7c486acdf5f9c3791ef3832f8f2"
        ),
        (
            "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a9",
            "0000000000000000000000000000000000000000000000000000000000000002"
        ),
        (
            "d23f0824128b2f330c5c7fd0a6a3a4506513270e269e0d37f2a74de452e6b439",
            "3a00353156265807d7ac96e5a9e0cf3bf84092b50234114f8acb444ffee0a859"
        ),
        (
            "36f675cc81e74ef5e8e25d940ed904759531985d5d9dc9f81818e811892f902c",
            "58a3ed1bd3d45f8200adebfda9835d90bbd175753e9faa7d5ee7585fc55b5eb8"
        ),
        (
            "8d116ece1738f7d93d9c172411e20b8f6b0d549b6f03675a1600a35a099950d9",
            "1c8f87302daa124ae82056d72088ee50454ba8288ea421a1c6377293791b9ea9"
        ),
        (
            "a170b33839263059f28c105d1fb17c2390c192cfd3ac94af0f21ddb66cad4a27",
            "2f76abae8289ecb0d17bbca8ec28b270a5397ee82b0c1450818c0a445c42da49"
        ),
    ]

    @Test func `the inverses of known numbers are known`() {
        for (number, inverse) in Self.inverses {
            #expect(Self.scalar(number).inverse == Self.scalar(inverse))
            #expect(Self.scalar(inverse).inverse == Self.scalar(number))
        }
    }

    @Test func `the inverse of an inverse is the number`() throws {
        var bytes = [UInt8](repeating: 0x5A, count: 32)
        for step in 0..<2_000 {
            bytes[step % 32] = bytes[step % 32] &* 167 &+ UInt8(truncatingIfNeeded: step) &+ 13
            // Short ones too: what has few bits takes another way through.
            let length = step % 33
            let short = [UInt8](repeating: 0, count: 32 - length) + bytes.prefix(length)
            let number = GroupScalar(bigEndian: short.span)
            guard let inverse = number.inverse else { continue }
            #expect(inverse.inverse == number)
        }
    }

    private static func inverse(_ bytes: [UInt8]) -> GroupScalar? {
        GroupScalar(bigEndian: bytes.span).inverse
    }

    @Test func `zero, the order and what is above have no inverse`() {
        var order = ES256SignatureTests.order
        #expect(Self.inverse(ES256SignatureTests.one) != nil)
        #expect(Self.inverse(ES256SignatureTests.zero) == nil)
        #expect(Self.inverse(order) == nil)
        order[31] += 1
        #expect(Self.inverse(order) == nil)
        #expect(Self.inverse([UInt8](repeating: 0xFF, count: 32)) == nil)
    }

    @Test func `the bytes come back`() {
        let bytes = (1...32).map { UInt8($0 * 7) }
        let written = GroupScalar(bigEndian: bytes.span).bigEndian
        #expect(bytes.indices.map { written[$0] } == bytes)
        #expect(GroupScalar.order.bigEndian[0] == 0xFF)
        #expect(GroupScalar.order.bigEndian[31] == 0x51)
    }
}
