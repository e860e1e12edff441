import Bytes
import OpenSSL
import Testing

@Suite struct CertificateTests {
    @Test func `a certificate comes back from its own DER and PEM`() throws {
        let leaf = try TestChain().leaf
        #expect(try Certificate(der: leaf.der).fingerprint == leaf.fingerprint)
        #expect(try Certificate(file: leaf.der).fingerprint == leaf.fingerprint)
        let text = String(decoding: Base64.encode(leaf.der.span), as: UTF8.self)
        let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        #expect(try Certificate(file: Array(pem.utf8)).fingerprint == leaf.fingerprint)
        #expect(leaf.subject == "/CN=Test Leaf")
    }

    @Test func `validity is read to the second`() throws {
        let window = ValidityWindow(
            notBeforeMilliseconds: 1_771_200_001_000, notAfterMilliseconds: 1_773_532_800_000)
        let chain = try TestChain(changeLeaf: { $0.validity = window })
        #expect(chain.leaf.validity == window)
    }

    @Test(arguments: [
        Int64(-1_000), 0, 2_524_607_999_000, 2_524_608_000_000, 253_402_300_799_000,
    ])
    func `dates before 1970, after 2049 and at the end of time are right`(
        milliseconds: Int64
    ) throws {
        let window = ValidityWindow(
            notBeforeMilliseconds: milliseconds, notAfterMilliseconds: milliseconds)
        #expect(try TestChain(changeLeaf: { $0.validity = window }).leaf.validity == window)
    }

    @Test func `extensions are found by their numbers`() throws {
        let leaf = try TestChain().leaf
        #expect(leaf.hasExtension(oid: ChainPolicy.receiptSignerOID))
        #expect(leaf.hasExtension(oid: "2.5.29.19"))
        #expect(!leaf.hasExtension(oid: ChainPolicy.developerRelationsOID))
        #expect(!leaf.hasExtension(oid: "1.2.840.113635.100.6.11"))
        #expect(!leaf.hasExtension(oid: "no numbers"))
        #expect(!leaf.hasExtension(oid: ""))
    }

    @Test func `a certificate cut short at any byte is refused`() throws {
        let der = try TestChain().leaf.der
        for count in 0..<der.count {
            #expect(throws: OpenSSLError.self) {
                try Certificate(der: der.prefix(count))
            }
        }
    }

    @Test func `bytes after a certificate are refused`() throws {
        let der = try TestChain().leaf.der
        #expect(reasons(ofParsing: der).isEmpty)
        #expect(reasons(ofParsing: der + [0]) == ["bytes follow the certificate"])
        #expect(reasons(ofParsing: der + der) == ["bytes follow the certificate"])
    }

    @Test func `no changed byte crashes, and none keeps the chain trusted`() throws {
        let chain = try TestChain()
        let policy = try ChainPolicy(roots: [chain.root])
        let der = chain.leaf.der
        for offset in stride(from: 0, to: der.count, by: 3) {
            var changed = der
            changed[offset] ^= 0x41
            guard let leaf = try? Certificate(der: changed), leaf.der != der else { continue }
            #expect(throws: ChainError.self) {
                try policy.verify(leaf: leaf, intermediate: chain.intermediate)
            }
        }
    }

    @Test func `an error says what was attempted and why it failed`() {
        #expect {
            try Certificate(file: Array("no certificate".utf8))
        } throws: { error in
            let text = "\(error)"
            return text.hasPrefix("cannot read a certificate in PEM or DER: ") && text.count > 50
        }
    }

    @Test func `a failure leaves nothing behind for the next one`() throws {
        for _ in 0..<3 { _ = try? Certificate(der: [0x30, 0x03, 0x02, 0x01, 0x01]) }
        let first = reasons(ofParsing: [0x30, 0x03, 0x02, 0x01, 0x01])
        _ = try? SigningKey(pem: Array("none".utf8))
        #expect(reasons(ofParsing: [0x30, 0x03, 0x02, 0x01, 0x01]) == first)
        #expect(!first.isEmpty)
    }

    private func reasons(ofParsing der: [UInt8]) -> [String] {
        do throws(OpenSSLError) {
            _ = try Certificate(der: der)
            return []
        } catch {
            return error.reasons
        }
    }
}
