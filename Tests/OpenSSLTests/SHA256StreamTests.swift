import OpenSSL
import Testing

@Suite struct SHA256StreamTests {
    @Test(arguments: [0, 1, 63, 64, 65, 1_000])
    func `pieces have the digest of the whole`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var stream = SHA256Stream()
        for start in stride(from: 0, to: count, by: 7) {
            stream.update(Array(bytes[start..<min(count, start + 7)]))
        }
        let digest = stream.finish()
        #expect(digest == SHA256Digest(of: bytes.span))
    }
}
