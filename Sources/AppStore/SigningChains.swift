internal import Bytes
internal import OpenSSL
internal import Synchronization

/// A leaf and an intermediate that lead to a pinned root, ready to check signatures.
final class SigningChain: Sendable {
    /// When all certificates of the chain are valid.
    let window: ValidityWindow
    /// The leaf's key.
    let key: ES256PublicKey

    init(window: ValidityWindow, key: ES256PublicKey) {
        self.window = window
        self.key = key
    }
}

/// A header whose signatures were good before, and its chain.
struct KnownHeader: Sendable {
    let header: [UInt8]
    let chain: SigningChain
    /// What every digest of what was signed under it begins with.
    let prefix: SHA256Prefix
}

/// The chains that were trusted before: checking one anew takes 2.7 ms, a signature 0.08.
///
/// Only trust is remembered, never distrust and never a signature. Two levels: by certificates,
/// and by the text of a whole JWS header, which saves decoding its 4 KB. A header is remembered
/// only once a signature under it was good, so a stranger cannot fill the cache with spellings of
/// his own. Shared by threads; the lock is held for a look-up only.
struct SigningChains: Sendable {
    /// Apple signs with a handful of leaves at a time.
    static let countMax = 64

    /// What copies share.
    private final class Memory: Sendable {
        let byCertificates = Mutex(RecentlyUsed<SigningChain>(countMax: countMax))
        let byHeader = Mutex(RecentlyUsed<SigningChain>(countMax: countMax))
        let latest = Mutex<KnownHeader?>(nil)
    }

    private let policy: ChainPolicy
    private let memory = Memory()
    private var checksNewOnes = true

    init(policy: ChainPolicy) {
        self.policy = policy
    }

    /// The same with the same memory, but chains that are not in it are distrusted unseen.
    var knownOnes: SigningChains {
        var copy = self
        copy.checksNewOnes = false
        return copy
    }

    /// A header whose signatures were good before; nil when it is none.
    ///
    /// Nearly always the header is that of the JWS before: comparing its 4 KB takes 0.4 us, their
    /// digest 4.
    func known(header: Span<UInt8>) -> KnownHeader? {
        let latest = memory.latest.withLock { $0 }
        if let latest, latest.header.count == header.count,
            header.holds(latest.header.span, at: 0)
        {
            return latest
        }
        let digest = SHA256Digest(of: header)
        guard let chain = memory.byHeader.withLock({ $0.value(digest) }) else { return nil }
        return setLatest(chain, header)
    }

    /// Remembers the chain of a header under which a signature was good.
    func remember(_ chain: SigningChain, header: Span<UInt8>) {
        let digest = SHA256Digest(of: header)
        memory.byHeader.withLock { $0.insert(chain, digest) }
        _ = setLatest(chain, header)
    }

    private func setLatest(_ chain: SigningChain, _ header: Span<UInt8>) -> KnownHeader {
        let bytes = [UInt8](capacity: header.count) { output in
            for index in 0..<header.count { output.append(header[index]) }
        }
        let known = KnownHeader(header: bytes, chain: chain, prefix: SHA256Prefix(of: header))
        memory.latest.withLock { $0 = known }
        return known
    }

    /// Checks the two certificates, or finds them checked.
    ///
    /// - Parameters:
    ///   - leaf: `x5c[0]` in DER.
    ///   - intermediate: `x5c[1]` in DER.
    /// - Returns: The chain, its window not yet compared with any instant.
    /// - Throws: ``AppStoreError``.
    func trusted(leaf: [UInt8], intermediate: [UInt8]) throws(AppStoreError) -> SigningChain {
        // Digests have one length, so the two cannot run into each other.
        let pair = SHA256Digest(of: leaf.span).bytes + SHA256Digest(of: intermediate.span).bytes
        let digest = SHA256Digest(of: pair.span)
        if let chain = memory.byCertificates.withLock({ $0.value(digest) }) { return chain }
        guard checksNewOnes else {
            throw .untrustedChain("x5c holds certificates that were not checked before")
        }
        let chain = try check(leaf: leaf, intermediate: intermediate)
        memory.byCertificates.withLock { $0.insert(chain, digest) }
        return chain
    }

    private func check(
        leaf: [UInt8], intermediate: [UInt8]
    ) throws(AppStoreError) -> SigningChain {
        let leafCertificate = try certificate(leaf, "x5c[0]")
        let issuer = try certificate(intermediate, "x5c[1]")
        let window: ValidityWindow
        do throws(ChainError) {
            window = try policy.verify(leaf: leafCertificate, intermediate: issuer)
        } catch {
            switch error {
            case .untrusted(let reason):
                throw .untrustedChain(
                    "x5c must lead from the leaf over one intermediate to a pinned root: \(reason)")
            case .markerMissing(let oid):
                throw .markerOIDMissing("the chain is trusted, but has no extension \(oid)")
            }
        }
        guard let key = ES256PublicKey(leafCertificate) else {
            throw .badSignature("ES256 needs a leaf with a P-256 key")
        }
        return SigningChain(window: window, key: key)
    }

    private func certificate(
        _ der: [UInt8], _ name: String
    ) throws(AppStoreError) -> Certificate {
        do throws(OpenSSLError) {
            return try Certificate(der: der.span)
        } catch {
            throw .malformedPayload("\(name) of the JWS header is no certificate")
        }
    }
}

/// A dictionary that forgets what was not used for longest when it is full.
struct RecentlyUsed<Value: Sendable>: ~Copyable {
    private let countMax: Int
    private var entries: [SHA256Digest: (value: Value, lastUse: UInt64)] = [:]
    private var clock: UInt64 = 0

    init(countMax: Int) {
        self.countMax = countMax
    }

    var count: Int { entries.count }

    mutating func value(_ key: SHA256Digest) -> Value? {
        clock += 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = clock
        return entries.values[index].value
    }

    mutating func insert(_ value: Value, _ key: SHA256Digest) {
        clock += 1
        entries[key] = (value, clock)
        // Few enough entries that looking at all of them is cheaper than keeping them in order.
        guard entries.count > countMax,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        else { return }
        entries[oldest] = nil
    }
}
