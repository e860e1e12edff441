internal import EventLoop
internal import Synchronization

/// What threads of the daemon tell each other about it. Relaxed: it orders nothing.
final class DaemonState: Sendable {
    /// Whether the server is going down: it is not ready, and takes no new notification.
    private let draining = Atomic(false)
    private let warmed = Atomic(false)
    private let succeededReloads = Atomic<UInt64>(0)
    private let failedReloads = Atomic<UInt64>(0)
    private let lastReloadFailed = Atomic(false)
    /// When the main thread last turned; 0: it is not watched.
    private let turnedAt = Atomic<UInt64>(0)

    /// How the readings of the configuration ended; the one of the start counts.
    struct Reloads: Equatable, Sendable {
        var succeededCount: UInt64
        var failedCount: UInt64
        var hasLastSucceeded: Bool
    }

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Whether every verdict that fits is in memory.
    var hasWarmed: Bool { warmed.load(ordering: .relaxed) }

    func endWarming() { warmed.store(true, ordering: .relaxed) }

    var reloads: Reloads {
        Reloads(
            succeededCount: succeededReloads.load(ordering: .relaxed),
            failedCount: failedReloads.load(ordering: .relaxed),
            hasLastSucceeded: !lastReloadFailed.load(ordering: .relaxed))
    }

    /// The configuration was read again.
    func reloaded(successfully: Bool) {
        if successfully {
            succeededReloads.add(1, ordering: .relaxed)
        } else {
            failedReloads.add(1, ordering: .relaxed)
        }
        lastReloadFailed.store(!successfully, ordering: .relaxed)
    }

    /// The main thread turns.
    func turned(atMilliseconds now: UInt64) { turnedAt.store(max(1, now), ordering: .relaxed) }

    /// For how long the main thread has not turned; 0 where it is not watched.
    func stalledMilliseconds(atMilliseconds now: UInt64) -> UInt64 {
        let last = turnedAt.load(ordering: .relaxed)
        return last == 0 || now < last ? 0 : now - last
    }
}
