import Entitlements
import Service
import TestSupport
import Testing

@Suite struct ImportingTests {
    private func row(
        _ transaction: [UInt8], renewal: [UInt8] = [], _ evidence: Evidence = Evidence()
    ) -> ImportRow {
        ImportRow(
            customer: .customer("ann"), signedTransaction: transaction, signedRenewal: renewal,
            evidence: evidence)
    }

    private static func evidence(
        _ field: WritableKeyPath<Evidence, Timestamp?>, _ offset: Int64
    ) -> Evidence {
        var evidence = Evidence()
        evidence[keyPath: field] = Timestamp(milliseconds: ServiceFixture.date(offset))
        return evidence
    }

    @Test func `each row is believed or refused by itself`() throws {
        let fixture = try ServiceFixture()
        let good = try fixture.transaction("1", to: 9_000)
        var forged = good
        forged[forged.count - 2] ^= 1
        let stranger = SignedFixtures(authority: try TestCertificateAuthority(name: "Stranger"))
        var (other, sandbox) = (fixture.apple, fixture.apple)
        other.bundleID = "com.example.other"
        sandbox.environment = "Sandbox"
        let date = ServiceFixture.date(1_000)
        let reply = try fixture.importing([
            row(forged), row([]), row(Array("a.b.c".utf8)),
            row(try stranger.transaction("2", product: "p", purchased: date)),
            row(try other.transaction("3", product: "p", purchased: date)),
            row(try sandbox.transaction("4", product: "p", purchased: date)),
            row(good, renewal: try fixture.renewal("7", signed: 1_000)),
            row(good, renewal: forged), row(good),
        ])
        let expected: [RefusalReason] = [
            .badSignature, .malformedPayload, .malformedPayload, .untrustedChain, .wrongApp,
            .wrongEnvironment, .renewalMismatch, .badSignature,
        ]
        #expect(reply.problems.map(\.refusal.reason) == expected)
        #expect(reply.problems.map(\.position) == Array(0..<8))
        #expect(reply.problems.allSatisfy { !$0.isTakenIn })
        #expect(reply.learntCount == 1)
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.view(.customer("ann")).transactionCount == 1)
    }

    @Test func `a chain of certificates that is new is not checked by those who must not`() throws {
        let fixture = try ServiceFixture()
        let stranger = SignedFixtures(authority: try TestCertificateAuthority(name: "Stranger"))
        let rows = [
            row([]), row(try stranger.transaction("2", product: "p", purchased: 1_000)),
        ]
        let call = WriteCall.importing(ImportRequest(scope: fixture.scope, rows: rows))
        #expect(try fixture.service.prepareWithKnownChains(call) == nil)
        let known = WriteCall.importing(ImportRequest(scope: fixture.scope, rows: [row([])]))
        #expect(try fixture.service.prepareWithKnownChains(known) != nil)
    }

    @Test func `dates that cannot be are refused`() throws {
        let fixture = try ServiceFixture()
        let copy = try fixture.transaction("1", to: 9_000, signed: 2_000)
        let day: Int64 = 86_400_000
        let wrong = [
            Self.evidence(\.datedCopy, 2_001), Self.evidence(\.datelessRevoke, 2_001 + day),
            Self.evidence(\.grantNotification, 2_001 + day),
            Self.evidence(\.activeStatus, -ServiceFixture.epoch),
        ]
        let reply = try fixture.importing(wrong.map { row(copy, $0) })
        #expect(reply.problems.map(\.refusal.reason) == wrong.map { _ in .invalidField })
        #expect(fixture.service.revision == 0)
        let right = [
            Self.evidence(\.datedCopy, 2_000), Self.evidence(\.datelessRevoke, 2_000 + day),
        ]
        #expect(try fixture.importing(right.map { row(copy, $0) }).problems.isEmpty)
    }

    @Test func `nothing is an import too`() throws {
        let fixture = try ServiceFixture()
        let reply = try fixture.importing([])
        #expect(reply.problems.isEmpty && reply.revision == 0 && fixture.service.revision == 0)
    }
}
