import Testing

@testable import OpenSSL

@Suite struct SHA256PrefixTests {
    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 2_200, 4_096])
    func `going on from a prefix gives the digest of the whole`(count: Int) {
        let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let prefix = SHA256Prefix(of: bytes.span.extracting(0..<count))
        for end in [count, count + 1, count + 64, 4_200, 5_000] {
            let digest = prefix.digest(with: bytes.span.extracting(count..<end))
            let whole = SHA256Digest(of: bytes.span.extracting(0..<end))
            #expect((0..<32).map { digest[$0] } == whole.bytes)
        }
    }
}
