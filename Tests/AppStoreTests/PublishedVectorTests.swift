import AppStore
import Entitlements
import FoundationEssentials
import OpenSSL
import TestSupport
import Testing

/// Data of the test suite of Apple's own library, where it lies beside the project.
@Suite(.enabled(if: PublishedVectors.directory != nil, "no ../shared/vectors beside the project"))
struct PublishedVectorTests {
    private func verifier(
        bundleID: String = "com.example", environments: Set<AppEnvironment> = [.sandbox]
    ) throws -> SignedDataVerifier {
        try SignedDataVerifier(
            apps: [TrustedApp(bundleID: bundleID, appAppleID: 1_234, environments: environments)],
            roots: [TrustedRoot(file: PublishedVectors.read("certs/testCA.der"))])
    }

    private func signed(_ name: String) throws -> [UInt8] {
        try PublishedVectors.read("mock_signed_data/\(name)").filter { $0 != UInt8(ascii: "\n") }
    }

    @Test func `the test notification verifies in Sandbox only`() throws {
        let jws = try signed("testNotification")
        let notification = try #require(
            try verifier().verifyNotification(jws).signed
        ).notification
        #expect(notification.type == "TEST" && !notification.isUnknown)
        #expect(notification.scope == Scope(bundleID: "com.example", environment: .sandbox))
        let production = try verifier(environments: [.production])
        #expect(refusal { try production.verifyNotification(jws) } == "WRONG_ENVIRONMENT")
        let other = try verifier(bundleID: "com.example.x")
        #expect(refusal { try other.verifyNotification(jws) } == "WRONG_APP")
    }

    @Test func `a misspelt x5c is malformed, another bundle is the wrong app`() throws {
        let verifier = try verifier()
        let missing = try signed("missingX5CHeaderClaim")
        let other = try signed("wrongBundleId")
        #expect(refusal { try verifier.verifyNotification(missing) } == "MALFORMED_PAYLOAD")
        #expect(refusal { try verifier.verifyNotification(other) } == "WRONG_APP")
    }

    @Test func `the transaction and the renewal info verify, but have no ids to be kept under`()
        throws
    {
        let transaction = try signed("transactionInfo")
        let renewal = try signed("renewalInfo")
        let verifier = try verifier()
        let other = try self.verifier(bundleID: "com.example.x")
        let production = try self.verifier(environments: [.production])
        #expect(refusal { try other.verifyTransaction(transaction) } == "WRONG_APP")
        #expect(refusal { try production.verifyTransaction(transaction) } == "WRONG_ENVIRONMENT")
        #expect(refusal { try production.verifyRenewal(renewal) } == "WRONG_ENVIRONMENT")
        for body in [
            { try verifier.verifyTransaction(transaction) } as () throws -> Any,
            { try verifier.verifyRenewal(renewal) },
        ] {
            #expect {
                try body()
            } throws: { error in
                (error as? AppStoreError)?.message.contains("ransactionId is absent from") == true
            }
        }
    }

    @Test func `under Apple's own root they are not trusted`() throws {
        let verifier = try SignedDataVerifier(
            apps: [TrustedApp(bundleID: "com.example", appAppleID: 1, environments: [.sandbox])],
            roots: [TrustedRoot(file: PublishedVectors.read("certs/AppleRootCA-G3.cer"))])
        let jws = try signed("testNotification")
        #expect(refusal { try verifier.verifyNotification(jws) } == "UNTRUSTED_CHAIN")
    }

    @Test func `Apple's root is recognised, the test root is not`() throws {
        #expect(try TrustedRoot(file: PublishedVectors.read("certs/AppleRootCA-G3.cer")).isApple)
        #expect(try !TrustedRoot(file: PublishedVectors.read("certs/testCA.der")).isApple)
    }

    @Test func `what Xcode signed is refused`() throws {
        let verifier = try verifier(bundleID: "com.example.naturelab.backyardbirds.example")
        let names = try PublishedVectors.names("xcode").filter { $0.hasPrefix("xcode-signed") }
        #expect(!names.isEmpty)
        for name in names {
            let jws = try PublishedVectors.read("xcode/\(name)").filter { $0 != UInt8(ascii: "\n") }
            #expect(refusal { try verifier.verifyTransaction(jws) } == "CHAIN_LENGTH", "\(name)")
        }
    }

    @Test(arguments: ["signedTransaction.json", "signedTransactionWithRevocation.json"])
    func `the published transactions decode without loss`(name: String) throws {
        let fixtures = try Desk.fixtures()
        let claims = try sandboxed("models/\(name)")
        let verifier = try verifierOfDesk(fixtures)
        let found = try verifier.verifyTransaction(
            fixtures.authority.sign(claims)
        ).signed.transaction
        #expect(found.transactionID == "23456" && found.originalTransactionID == "12345")
        #expect(found.revocationDate?.milliseconds == 1_698_148_950_000)
        #expect(found.isUpgraded && found.price == 10_990 && found.currency == "USD")
        #expect(found.appTransactionID == "71134" && found.revocationReason == 1)
        #expect(
            (found.revocationType == "REFUND_PRORATED") == (found.revocationPercentage == 50_000))
    }

    @Test func `the published renewal info decodes without loss`() throws {
        let fixtures = try Desk.fixtures()
        let claims = try sandboxed("models/signedRenewalInfo.json")
        let found = try verifierOfDesk(fixtures).verifyRenewal(
            fixtures.authority.sign(claims)
        ).signed.renewal
        #expect(found.originalTransactionID == "12345" && found.isInBillingRetryPeriod)
        #expect(found.gracePeriodExpiresDate?.milliseconds == 1_698_148_900_000)
        #expect(found.autoRenewProductID == "com.example.product.2")
    }

    @Test(arguments: [
        "signedExternalPurchaseTokenSandboxNotification.json",
        "signedSummaryNotification.json",
    ])
    func `the published notifications without a transaction are read`(name: String) throws {
        let fixtures = try Desk.fixtures()
        let claims = try sandboxed("models/\(name)")
        let event = try verifierOfDesk(fixtures).verifyNotification(fixtures.authority.sign(claims))
        #expect(event.signed?.notification.isUnknown == false)
        #expect(event.signed?.notification.scope.environment == .sandbox)
    }

    private func verifierOfDesk(_ fixtures: SignedFixtures) throws -> SignedDataVerifier {
        try SignedDataVerifier(
            apps: [TrustedApp(bundleID: "com.example", appAppleID: nil, environments: [.sandbox])],
            roots: [fixtures.authority.trustedRoot])
    }

    /// The model's text, of the environment LocalTesting, which nobody accepts, made Sandbox.
    private func sandboxed(_ path: String) throws -> [UInt8] {
        let text = String(decoding: try PublishedVectors.read(path), as: UTF8.self)
        return Array(text.replacing("\"LocalTesting\"", with: "\"Sandbox\"").utf8)
    }
}

/// Where the published data lie: `ENTITLED_VECTORS`, else `../shared/vectors`.
enum PublishedVectors {
    static let directory: String? = {
        let environment = ProcessInfo.processInfo.environment["ENTITLED_VECTORS"]
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = environment ?? package.appending(path: "../shared/vectors").path
        return FileManager.default.fileExists(atPath: path + "/apple/certs") ? path : nil
    }()

    static func read(_ path: String) throws -> [UInt8] {
        let directory = try #require(directory)
        return Array(try Data(contentsOf: URL(filePath: "\(directory)/apple/\(path)")))
    }

    static func names(_ path: String) throws -> [String] {
        let directory = try #require(directory)
        return try FileManager.default.contentsOfDirectory(atPath: "\(directory)/apple/\(path)")
    }
}
