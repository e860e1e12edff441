package import Entitlements
package import Service

/// What loops have answered since they began, as one reading.
package struct CallCounts: Equatable, Sendable {
    /// The upper ends of the histogram's buckets, in microseconds; one more bucket has no end.
    package static let durationBounds: InlineArray<16, UInt64> = [
        10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000,
        1_000_000, 5_000_000,
    ]

    /// How long calls of one method took, from the read of the request to the write of the answer.
    /// A check that waited for a revision counts from when that came.
    package struct Durations: Equatable, Sendable {
        /// Calls by bucket, not cumulative.
        package var bucketCounts = [UInt64](repeating: 0, count: CallCounter.bucketCount)
        /// In microseconds.
        package var sum: UInt64 = 0
    }

    private var calls = [UInt64](
        repeating: 0, count: CallCounter.methodCount * CallCounter.codeCount)
    private var checks = [UInt64](
        repeating: 0, count: CallCounter.scopeCountMax * CallCounter.reasonCount)
    private var durations = [Durations](repeating: Durations(), count: CallCounter.methodCount)
    /// Bytes read from clients.
    package private(set) var receivedByteCount: UInt64 = 0
    /// Bytes written to clients, or queued for them.
    package private(set) var sentByteCount: UInt64 = 0

    /// Nothing yet.
    package init() {}

    /// Adds what a loop has counted.
    package mutating func add(_ counter: CallCounter) {
        for index in calls.indices { calls[index] &+= counter.callCount(index) }
        for index in checks.indices { checks[index] &+= counter.checkCount(index) }
        for method in durations.indices {
            durations[method].sum &+= counter.durationSum(method)
            for bucket in 0..<CallCounter.bucketCount {
                durations[method].bucketCounts[bucket] &+= counter.bucketCount(
                    method * CallCounter.bucketCount + bucket)
            }
        }
        receivedByteCount &+= counter.receivedByteCount
        sentByteCount &+= counter.sentByteCount
    }

    /// How many calls of a method ended with a code.
    package subscript(method: CallMethod, code: StatusCode) -> UInt64 {
        calls[Int(method.rawValue) * CallCounter.codeCount + Int(code.rawValue)]
    }

    /// How many checks in a scope were answered with a reason; 0 for a scope beyond the 64th.
    package subscript(scope: ScopeIndex, reason: AccessReason) -> UInt64 {
        let index = scope.value * CallCounter.reasonCount + Int(reason.rawValue)
        return index < checks.count ? checks[index] : 0
    }

    /// How long the calls of a method took.
    package func durations(of method: CallMethod) -> Durations { durations[Int(method.rawValue)] }
}
