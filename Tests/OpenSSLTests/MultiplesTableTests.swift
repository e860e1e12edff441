import Testing

@testable import OpenSSL

@Suite struct MultiplesTableTests {
    let key: SigningKey
    let publicKey: ES256PublicKey
    let table: MultiplesTable

    init() throws {
        key = try SigningKey(generatedOn: .p256)
        publicKey = try #require(key.es256PublicKey())
        table = try #require(MultiplesTable(of: publicKey))
    }

    private func accepts(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        table.accepts(
            signature: signature.span, digest: SHA256Digest.rawBytes(of: message.span))
    }

    @Test func `it accepts what the key has signed, and nothing else`() throws {
        for number in 0..<500 {
            let message = Array("message \(number)".utf8)
            let signature = try key.signature(of: message)
            #expect(accepts(signature, message))
            #expect(!accepts(signature, message + [0]))
            var changed = signature
            changed[number % 64] ^= 1 << UInt8(number % 8)
            #expect(!accepts(changed, message))
            #expect(publicKey.isValid(signature: changed, of: message) == false)
        }
    }

    @Test func `another key's signature is not accepted`() throws {
        let other = try SigningKey(generatedOn: .p256)
        for number in 0..<50 {
            let message = Array("message \(number)".utf8)
            #expect(!accepts(try other.signature(of: message), message))
        }
    }

    @Test func `numbers outside of 1 to n are not accepted`() throws {
        let message = Array("message".utf8)
        let signature = try key.signature(of: message)
        let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
        let zero = ES256SignatureTests.zero
        let order = ES256SignatureTests.order
        let ones = [UInt8](repeating: 0xFF, count: 32)
        for bad in [zero, order, ones] {
            #expect(!accepts(bad + s, message))
            #expect(!accepts(r + bad, message))
            #expect(!accepts(bad + bad, message))
        }
        #expect(!accepts(signature + [0], message))
        #expect(!accepts(Array(signature.dropLast()), message))
        #expect(!accepts([], message))
    }

    /// Of a point whose x is 3 more than n: r is 3 then, and the x itself is no r. The key was
    /// computed so that this point comes out for `s` = 1; nobody knows its other half, in whose
    /// place a 1 stands.
    @Test func `an x beyond n is taken for its remainder only`() throws {
        let pem = """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABoAoGCCqGSM49
            AwEHoUQDQgAEiiAGQG3siIg2AgWV+tcNnsVNPaREJx+bGvY0MQVzB2ggTluh6vXr
            DmthtN0mHBw+Vm3LzvwDfcexETP/2rYuCQ==
            -----END EC PRIVATE KEY-----
            """
        let key = try #require(SigningKey(pem: Array(pem.utf8)).es256PublicKey())
        let table = try #require(MultiplesTable(of: key))
        let digest = SHA256Digest.rawBytes(of: Array("message".utf8).span)
        var three = ES256SignatureTests.zero
        three[31] = 3
        var beyond = ES256SignatureTests.order
        beyond[31] += 3
        let (good, bad) = (three + ES256SignatureTests.one, beyond + ES256SignatureTests.one)
        #expect(key.isValid(signature: good, of: Array("message".utf8)))
        #expect(!key.isValid(signature: bad, of: Array("message".utf8)))
        let isTaken = table.accepts(signature: bad.span, digest: digest)
        #expect(!isTaken)
    }

    /// A sum that is no point at all, or twice a point, comes from scalars like these.
    @Test func `the smallest and largest numbers are refused as OpenSSL refuses them`() {
        let one = ES256SignatureTests.one
        var last = ES256SignatureTests.order
        last[31] -= 1
        for r in [one, last] {
            for s in [one, last] {
                for number in 0..<20 {
                    let message = Array("message \(number)".utf8)
                    #expect(!accepts(r + s, message))
                }
            }
        }
    }

    @Test func `a key makes its table when it has checked enough, and answers as before`() throws {
        let message = Array("message".utf8)
        let signature = try key.signature(of: message)
        var wrong = signature
        wrong[40] ^= 1
        for _ in 1..<ES256PublicKey.checkCountBeforeTable {
            try #require(publicKey.isValid(signature: signature, of: message))
        }
        #expect(!publicKey.hasTable)
        #expect(publicKey.isValid(signature: signature, of: message))
        #expect(publicKey.hasTable)
        #expect(publicKey.isValid(signature: signature, of: message))
        #expect(!publicKey.isValid(signature: wrong, of: message))
    }

    @Test func `threads may share a table`() async throws {
        let (key, table) = (key, table)
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let message = [UInt8(index)]
                    guard let signature = try? key.signature(of: message) else { return false }
                    return table.accepts(
                        signature: signature.span, digest: SHA256Digest.rawBytes(of: message.span))
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
