internal import Entitlements
internal import Service
internal import Synchronization

/// Counts what one loop answers, for metrics.
///
/// Only the loop's thread writes, any thread reads: an addition is a relaxed load and a relaxed
/// store, 2 ns for a check where a plain struct in the responder took 20, for the checks of
/// overlapping access. A reader may see a call before its duration.
package final class CallCounter: Sendable {
    static let codeCount = 17
    static let reasonCount = 24
    /// Checks of worlds beyond are counted as calls, and not by their reasons.
    static let scopeCountMax = 64
    static let methodCount = 19
    static let bucketCount = 17

    /// By method and code.
    private let calls: InlineArray<323, Atomic<UInt64>>
    /// By method and bucket.
    private let buckets: InlineArray<323, Atomic<UInt64>>
    /// In microseconds, by method.
    private let durations: InlineArray<19, Atomic<UInt64>>
    /// Calls answered at once since the batch at hand began, by method.
    private let newCalls: InlineArray<19, Atomic<UInt64>>
    /// A bit for each method that has some.
    private let newMethods = Atomic<UInt64>(0)
    /// By scope and reason.
    private let checks: InlineArray<1536, Atomic<UInt64>>
    private let receivedBytes = Atomic<UInt64>(0)
    private let sentBytes = Atomic<UInt64>(0)

    /// All zero.
    package init() {
        calls = InlineArray { _ in Atomic(0) }
        buckets = InlineArray { _ in Atomic(0) }
        durations = InlineArray { _ in Atomic(0) }
        newCalls = InlineArray { _ in Atomic(0) }
        checks = InlineArray { _ in Atomic(0) }
    }

    @inline(__always)
    private static func add(_ count: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

// MARK: - Counting, on the loop's thread

extension CallCounter {
    /// A check was decided, alone or in a batch.
    func decided(_ scope: ScopeIndex, _ reason: AccessReason) {
        guard scope.value < Self.scopeCountMax else { return }
        Self.add(1, to: checks[scope.value &* Self.reasonCount &+ Int(reason.rawValue)])
    }

    /// Calls were answered at once, with OK where nothing else is said.
    func answered(_ method: CallMethod, _ code: StatusCode = .ok, count: Int = 1) {
        let index = Int(method.rawValue)
        let count = UInt64(count)
        Self.add(count, to: calls[index &* Self.codeCount &+ Int(code.rawValue)])
        Self.add(count, to: newCalls[index])
        let known = newMethods.load(ordering: .relaxed)
        newMethods.store(known | 1 &<< UInt64(index), ordering: .relaxed)
    }

    /// A call came back from other threads.
    func completed(_ method: CallMethod, code: Int, microseconds: UInt64) {
        guard 0..<Self.codeCount ~= code else { return }
        let index = Int(method.rawValue)
        Self.add(1, to: calls[index &* Self.codeCount &+ code])
        addDuration(microseconds, count: 1, index)
    }

    /// What was answered at once leaves with one write: all of it took that long.
    func batchEnded(microseconds: UInt64) {
        var methods = newMethods.load(ordering: .relaxed)
        guard methods != 0 else { return }
        newMethods.store(0, ordering: .relaxed)
        while methods != 0 {
            let index = methods.trailingZeroBitCount
            methods &= methods &- 1
            let count = newCalls[index].load(ordering: .relaxed)
            newCalls[index].store(0, ordering: .relaxed)
            addDuration(microseconds, count: count, index)
        }
    }

    private func addDuration(_ microseconds: UInt64, count: UInt64, _ method: Int) {
        var bucket = 0
        while bucket < CallCounts.durationBounds.count,
            microseconds > CallCounts.durationBounds[bucket]
        {
            bucket += 1
        }
        Self.add(count, to: buckets[method &* Self.bucketCount &+ bucket])
        Self.add(microseconds &* count, to: durations[method])
    }

    /// Bytes came in.
    package func received(byteCount: Int) {
        Self.add(UInt64(truncatingIfNeeded: byteCount), to: receivedBytes)
    }

    /// Bytes left, or were queued.
    package func sent(byteCount: Int) {
        Self.add(UInt64(truncatingIfNeeded: byteCount), to: sentBytes)
    }
}

// MARK: - Reading, on any thread

extension CallCounter {
    func callCount(_ index: Int) -> UInt64 { calls[index].load(ordering: .relaxed) }
    func checkCount(_ index: Int) -> UInt64 { checks[index].load(ordering: .relaxed) }
    func bucketCount(_ index: Int) -> UInt64 { buckets[index].load(ordering: .relaxed) }
    func durationSum(_ method: Int) -> UInt64 { durations[method].load(ordering: .relaxed) }
    var receivedByteCount: UInt64 { receivedBytes.load(ordering: .relaxed) }
    var sentByteCount: UInt64 { sentBytes.load(ordering: .relaxed) }
}
