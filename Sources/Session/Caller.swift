internal import Authorization

/// Who sends the requests of one connection, as far as he has shown.
///
/// Each request carries its key, and is judged by it alone. But one client sends one key, so what
/// the last one turned out to be is kept: to see that the next one is the same takes no hash, no
/// lock and no reference.
struct Caller {
    /// Who is at the other end of the connection.
    var peer = PeerIdentity() {
        didSet { keyByteCount = -1 }
    }
    /// What the caller of the last request may do.
    private(set) var grant = KeyGrant.refused(.missing)
    /// Requests that were refused because their key was none.
    private(set) var failureCount = 0
    /// The last request's key; the bytes behind it mean nothing.
    private var key = InlineArray<96, UInt8>(repeating: 0)
    /// Its length; -1: nothing is kept.
    private var keyByteCount = -1
    /// The generation of the ring that judged it.
    private var generation: UInt64 = 0
    /// When the ring was last told that he was seen.
    private var notedAt = Int64.min

    /// How often a connection may fail to say who calls. Nobody guesses 256 bits; whoever tries
    /// shall at least connect anew, and show up in the counts.
    static let failureCountMax = 32
    /// How exactly it is known when a key was last used, in milliseconds.
    static let useMilliseconds: Int64 = 60_000

    /// Nobody yet.
    init() {}

    /// Finds out what whoever shows `key` may do; `grant` says it.
    @inline(__always)
    mutating func show(_ key: Span<UInt8>, to ring: KeyRing, generation: UInt64) {
        if self.generation == generation, remembers(key) { return }
        look(at: key, in: ring, generation: generation)
    }

    /// All of it is compared whatever differs, so the time says nothing.
    @inline(__always)
    private func remembers(_ key: Span<UInt8>) -> Bool {
        guard key.count == keyByteCount else { return false }
        var difference: UInt8 = 0
        for index in key.indices { difference |= key[index] ^ self.key[index] }
        return difference == 0
    }

    @inline(never)
    private mutating func look(at key: Span<UInt8>, in ring: KeyRing, generation: UInt64) {
        grant = ring.grant(key: key, certificateNames: peer.certificateNames)
        self.generation = generation
        notedAt = .min
        keyByteCount = key.count <= self.key.count ? key.count : -1
        guard keyByteCount >= 0 else { return }
        for index in key.indices { self.key[index] = key[index] }
    }

    /// Tells the ring that he was seen, once in a while, and at once when the clock was set back.
    @inline(__always)
    mutating func noteUse(in ring: KeyRing, at nowMilliseconds: Int64) {
        let distance = (nowMilliseconds &- notedAt).magnitude
        guard distance >= Self.useMilliseconds.magnitude else { return }
        notedAt = nowMilliseconds
        ring.noteUse(of: grant, atMilliseconds: nowMilliseconds)
    }

    /// A request did not say who calls.
    ///
    /// - Returns: whether it was one too many.
    mutating func failed() -> Bool {
        failureCount += 1
        return failureCount == Self.failureCountMax
    }

    /// Whether nothing more is taken from him.
    var isShutOut: Bool { failureCount >= Self.failureCountMax }
}
