import OpenSSL
import TestSupport
import Testing

@testable import AppStore

@Suite struct SigningChainsTests {
    @Test func `a trusted pair is checked once`() throws {
        let authority = try TestCertificateAuthority()
        let chains = SigningChains(policy: try ChainPolicy(roots: [authority.root]))
        let first = try chains.trusted(
            leaf: authority.leaf.der, intermediate: authority.intermediate.der)
        let second = try chains.trusted(
            leaf: authority.leaf.der, intermediate: authority.intermediate.der)
        #expect(first === second)
        #expect(first.window == TestCertificateAuthority.longValidity)
    }

    @Test func `distrust is never remembered`() throws {
        let authority = try TestCertificateAuthority(defect: .leafMarkerMissing)
        let chains = SigningChains(policy: try ChainPolicy(roots: [authority.root]))
        for _ in 0..<3 {
            #expect(throws: AppStoreError.self) {
                try chains.trusted(
                    leaf: authority.leaf.der, intermediate: authority.intermediate.der)
            }
        }
    }

    @Test func `the pair is the key, not either of the two`() throws {
        let authority = try TestCertificateAuthority()
        let other = try TestCertificateAuthority()
        let policy = try ChainPolicy(roots: [authority.root, other.root])
        let chains = SigningChains(policy: policy)
        _ = try chains.trusted(leaf: authority.leaf.der, intermediate: authority.intermediate.der)
        _ = try chains.trusted(leaf: other.leaf.der, intermediate: other.intermediate.der)
        #expect(throws: AppStoreError.self) {
            try chains.trusted(leaf: authority.leaf.der, intermediate: other.intermediate.der)
        }
    }

    @Test func `a header is known once a signature under it was good`() throws {
        let authority = try TestCertificateAuthority()
        let chains = SigningChains(policy: try ChainPolicy(roots: [authority.root]))
        let jws = try authority.sign(["signedDate": .integer(Desk.march)])
        let header = Segments(jws).header
        func isKnown() -> Bool { chains.known(header: header.span) != nil }
        #expect(throws: AppStoreError.self) {
            try SignedPayload(
                verifying: Segments(jws).signed([UInt8](repeating: 1, count: 64)), chains: chains)
        }
        #expect(!isKnown())
        _ = try SignedPayload(verifying: jws, chains: chains)
        #expect(isKnown())
        #expect(throws: AppStoreError.self) {
            try SignedPayload(
                verifying: Segments(jws).signed([UInt8](repeating: 1, count: 64)), chains: chains)
        }
    }

    @Test func `threads may share the cache`() async throws {
        let fixtures = SignedFixtures(authority: try TestCertificateAuthority())
        let verifier = try fixtures.verifier()
        let good = try fixtures.charge()
        let bad = Segments(good).signed([UInt8](repeating: 1, count: 64))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    refusal { try verifier.verifyNotification(good) } == nil
                        && refusal { try verifier.verifyNotification(bad) } == "BAD_SIGNATURE"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func `those who know only what was checked distrust the rest unseen`() throws {
        let authority = try TestCertificateAuthority()
        let chains = SigningChains(policy: try ChainPolicy(roots: [authority.root]))
        let (leaf, intermediate) = (authority.leaf.der, authority.intermediate.der)
        #expect(throws: AppStoreError.self) {
            try chains.knownOnes.trusted(leaf: leaf, intermediate: intermediate)
        }
        let checked = try chains.trusted(leaf: leaf, intermediate: intermediate)
        // They share one memory, whoever was first.
        #expect(try chains.knownOnes.trusted(leaf: leaf, intermediate: intermediate) === checked)
    }
}

@Suite struct RecentlyUsedTests {
    private func key(_ number: UInt8) -> SHA256Digest {
        let bytes = [number]
        return SHA256Digest(of: bytes.span)
    }

    @Test func `what was not used for longest is forgotten first`() {
        var cache = RecentlyUsed<UInt8>(countMax: 3)
        for number in UInt8(1)...3 { cache.insert(number, key(number)) }
        let first = cache.value(key(1))
        cache.insert(4, key(4))
        let (count, kept, gone) = (cache.count, cache.value(key(1)), cache.value(key(2)))
        #expect(first == 1 && count == 3 && kept == 1 && gone == nil)
    }

    @Test func `the same key again replaces its value and forgets nothing`() {
        var cache = RecentlyUsed<UInt8>(countMax: 2)
        cache.insert(1, key(1))
        cache.insert(2, key(2))
        cache.insert(9, key(1))
        let (one, two, count) = (cache.value(key(1)), cache.value(key(2)), cache.count)
        #expect(one == 9 && two == 2 && count == 2)
    }

    @Test func `it never grows beyond its bound`() {
        var cache = RecentlyUsed<UInt8>(countMax: 64)
        for number in UInt8.min...UInt8.max { cache.insert(number, key(number)) }
        let count = cache.count
        #expect(count == 64)
    }
}
