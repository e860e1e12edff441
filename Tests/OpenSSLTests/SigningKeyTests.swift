import OpenSSL
import Testing

@Suite struct SigningKeyTests {
    @Test(arguments: EllipticCurve.allCases)
    func `a key comes back from its own PEM`(curve: EllipticCurve) throws {
        let key = try SigningKey(generatedOn: curve)
        let pem = try key.pem()
        let copy = try SigningKey(pem: pem)
        #expect(copy.curve == curve)
        #expect(try copy.publicKeyPEM() == key.publicKeyPEM())
        #expect(try SigningKey(generatedOn: curve).publicKeyPEM() != key.publicKeyPEM())
    }

    @Test func `what one copy signs the other one checks`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let pem = try key.pem()
        let copy = try SigningKey(pem: pem)
        let message: [UInt8] = [1, 2, 3]
        let publicKey = try #require(copy.es256PublicKey())
        let signature = try key.signature(of: message)
        #expect(publicKey.isValid(signature: signature, of: message))
    }

    @Test func `a P-384 signature has 96 bytes`() throws {
        let key = try SigningKey(generatedOn: .p384)
        let message: [UInt8] = [1]
        #expect(try key.signature(of: message).count == 96)
    }

    @Test(arguments: [
        "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    ])
    func `a text that is no private key is refused`(text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: OpenSSLError.self) { try SigningKey(pem: bytes) }
    }

    @Test func `a public key is no private key`() throws {
        let text = try SigningKey(generatedOn: .p256).publicKeyPEM()
        #expect(throws: OpenSSLError.self) { try SigningKey(pem: text) }
    }
}
