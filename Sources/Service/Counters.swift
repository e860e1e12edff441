import Synchronization

/// Counts of what happened since the start; relaxed, summed when read.
package final class Counters: Sendable {
    /// Notifications by disposition, at the disposition's raw value.
    private let dispositions: [AtomicCount] = (0...5).map { _ in AtomicCount() }
    /// Refusals by reason, in the order of `RefusalReason.allCases`.
    private let refusals: [AtomicCount] = RefusalReason.allCases.map { _ in AtomicCount() }
    /// Checks that read the store.
    private let storeReads = AtomicCount()
    private let positions: [RefusalReason: Int] = Dictionary(
        uniqueKeysWithValues: RefusalReason.allCases.enumerated().map { ($1, $0) })

    /// All zero.
    package init() {}

    /// Counts a stored or repeated notification.
    func count(_ disposition: UInt8) {
        dispositions[Int(disposition)].increment()
    }

    /// Counts a refused call.
    package func count(_ reason: RefusalReason) {
        if let position = positions[reason] { refusals[position].increment() }
    }

    /// Counts a check that memory did not answer.
    func countStoreRead() { storeReads.increment() }

    /// Checks that read the store, because the table did not hold the customer, or not under the
    /// name that was asked for.
    package var storeReadCount: UInt64 { storeReads.value }

    /// The refusals that happened, by reason.
    package var refusalCounts: [RefusalReason: UInt64] {
        positions.compactMapValues { position in
            let count = refusals[position].value
            return count == 0 ? nil : count
        }
    }

    /// Notifications by the raw value of their disposition.
    package var dispositionCounts: [UInt64] { dispositions.map(\.value) }
}

/// One relaxed counter.
private final class AtomicCount: Sendable {
    private let count = Atomic<UInt64>(0)

    func increment() { count.add(1, ordering: .relaxed) }
    var value: UInt64 { count.load(ordering: .relaxed) }
}
