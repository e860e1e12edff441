internal import Synchronization

/// Where the ring of now hangs. Those who ask often keep a reference of their own and look only at
/// `generation`: a load that nobody writes beside, instead of a counted reference that all share.
package final class KeyBoard: Sendable {
    private let current: Mutex<KeyRing>
    private let generations = Atomic<UInt64>(1)
    private let shutOuts = Atomic<UInt64>(0)

    /// A board with a ring.
    package init(_ ring: KeyRing = KeyRing()) { current = Mutex(ring) }

    /// Changes with every `replace`; read before `ring`.
    package var generation: UInt64 { generations.load(ordering: .acquiring) }

    /// The ring of now.
    package var ring: KeyRing { current.withLock { $0 } }

    /// Hangs up another ring: what was granted by the one before ends with the next batch of
    /// requests of each loop.
    package func replace(with ring: KeyRing) {
        current.withLock { $0 = ring }
        generations.add(1, ordering: .releasing)
    }

    /// A connection was ended because too many of its requests carried no valid key.
    package func countShutOut() { shutOuts.add(1, ordering: .relaxed) }

    /// How many were.
    package var shutOutCount: UInt64 { shutOuts.load(ordering: .relaxed) }
}
