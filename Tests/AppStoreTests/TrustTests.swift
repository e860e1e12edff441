import AppStore
import Bytes
import Entitlements
import OpenSSL
import TestSupport
import Testing

@Suite struct TrustTests {
    private func refused(_ apps: [TrustedApp], _ roots: [TrustedRoot]) -> TrustError? {
        do throws(TrustError) {
            _ = try SignedDataVerifier(apps: apps, roots: roots)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a configuration that cannot be right does not start`() throws {
        let root = try TestCertificateAuthority().trustedRoot
        let app = TrustedApp(bundleID: "a", appAppleID: 1, environments: [.production, .sandbox])
        let numberless = TrustedApp(bundleID: "b", appAppleID: nil, environments: [.production])
        let sandbox = TrustedApp(bundleID: "b", appAppleID: nil, environments: [.sandbox])
        #expect(refused([], [root]) == .noApp)
        #expect(refused([app], []) == .noRoot)
        #expect(refused([app, app], [root]) == .repeatedApp(bundleID: "a"))
        #expect(refused([app, numberless], [root]) == .missingAppAppleID(bundleID: "b"))
        #expect(refused([app, sandbox], [root]) == nil)
        #expect(refused([app], [root, root]) == nil)
    }

    @Test func `a root is read from PEM and DER and is not taken for Apple's`() throws {
        let authority = try TestCertificateAuthority(name: "Meadow")
        let der = authority.root.der
        let text = String(decoding: Base64.encode(der.span), as: UTF8.self)
        let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        for file in [der, Array(pem.utf8)] {
            let root = try TrustedRoot(file: file)
            #expect(root.fingerprint == authority.trustedRoot.fingerprint)
            #expect(root.subject == "/CN=Meadow Root CA")
            #expect(!root.isApple)
        }
        #expect(throws: TrustError.self) { try TrustedRoot(file: []) }
        #expect(throws: TrustError.self) { try TrustedRoot(file: Array("no root".utf8)) }
    }

    @Test func `apps are told apart, each with its own environments`() throws {
        let authority = try TestCertificateAuthority()
        var first = SignedFixtures(authority: authority, bundleID: "com.example.one", appAppleID: 1)
        var second = SignedFixtures(
            authority: authority, bundleID: "com.example.two", appAppleID: 2,
            environment: "Sandbox")
        let verifier = try SignedDataVerifier(
            apps: [first.app(), second.app(environments: [.sandbox])],
            roots: [authority.trustedRoot])
        let (one, two) = (try first.charge(), try second.charge())
        #expect(
            try verifier.verifyNotification(one).signed?.notification.scope
                == Scope(bundleID: "com.example.one", environment: .production))
        #expect(
            try verifier.verifyNotification(two).signed?.notification.scope
                == Scope(bundleID: "com.example.two", environment: .sandbox))
        first.environment = "Sandbox"
        second.environment = "Production"
        let (third, fourth) = (try first.charge(), try second.charge())
        #expect(refusal { try verifier.verifyNotification(third) } == "WRONG_ENVIRONMENT")
        #expect(refusal { try verifier.verifyNotification(fourth) } == "WRONG_ENVIRONMENT")
    }
}
