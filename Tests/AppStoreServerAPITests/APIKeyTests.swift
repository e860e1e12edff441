import AppStoreServerAPI
import OpenSSL
import TestSupport
import Testing

@Suite struct APIKeyTests {
    private func error(_ issuerID: String = "i", _ keyID: String = "k", _ file: [UInt8])
        -> APIKeyError?
    {
        do throws(APIKeyError) {
            _ = try APIKey(issuerID: issuerID, keyID: keyID, file: file)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a P-256 key in PKCS 8 is taken, and the same on P-384 is not`() throws {
        let good = try SigningKey(generatedOn: .p256).pem()
        let large = try SigningKey(generatedOn: .p384).pem()
        #expect(error("i", "k", good) == nil)
        guard case .wrongCurve(let curve)? = error("i", "k", large) else {
            Issue.record("P-384 was taken")
            return
        }
        #expect(APIKeyError.wrongCurve(curve).description.contains("P-256"))
    }

    @Test func `what is no private key is said to be none, and not shown`() throws {
        let key = try SigningKey(generatedOn: .p256)
        let pem = try key.pem()
        let files: [[UInt8]] = [
            [], Array("secret words".utf8), try key.publicKeyPEM(), Array(pem.prefix(80)),
            Array(pem.dropFirst(1)),
        ]
        for file in files {
            guard case .unreadable? = error("i", "k", file) else {
                Issue.record("taken: \(file.count) bytes")
                continue
            }
        }
        let said = error("i", "k", Array("secret words".utf8))?.description ?? ""
        #expect(said.contains("BEGIN PRIVATE KEY") && !said.contains("secret"))
    }

    @Test func `a key that is protected by a password is refused without asking for it`() {
        let file = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgAAAAAAAAAAAICCAAw
            -----END ENCRYPTED PRIVATE KEY-----
            """
        guard case .unreadable? = error("i", "k", Array(file.utf8)) else {
            Issue.record("taken")
            return
        }
    }

    @Test func `neither id may be empty`() throws {
        let pem = try SigningKey(generatedOn: .p256).pem()
        #expect(error("", "k", pem) == .emptyIssuerID)
        #expect(error("i", "", pem) == .emptyKeyID)
    }
}
