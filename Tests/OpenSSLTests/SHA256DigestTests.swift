import OpenSSL
import Testing

@Suite struct SHA256DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `the published vectors hold`(text: String, hexadecimal: String) {
        #expect(SHA256Digest(of: Array(text.utf8)).description == hexadecimal)
    }

    @Test func `a digest comes back from its own bytes and nothing else does`() {
        let digest = SHA256Digest(of: [1, 2, 3])
        #expect(SHA256Digest(bytes: digest.bytes) == digest)
        #expect(SHA256Digest(bytes: Array(digest.bytes.dropLast())) == nil)
        #expect(SHA256Digest(bytes: (digest.bytes + [0])) == nil)
        #expect(SHA256Digest(of: [1, 2, 4]) != digest)
    }
}
