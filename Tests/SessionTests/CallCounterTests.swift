import Entitlements
import Testing

@testable import Service
@testable import Session

@Suite struct CallCounterTests {
    private let counter = CallCounter()
    private let first = ScopeIndex(value: 0)
    private var counts: CallCounts {
        var counts = CallCounts()
        counts.add(counter)
        return counts
    }

    @Test func `sizes fit what is counted`() {
        #expect(CallCounter.methodCount == CallMethod.allCases.count)
        #expect(CallCounter.codeCount == Int(StatusCode.unauthenticated.rawValue) + 1)
        #expect(AccessReason.allCases.allSatisfy { $0.rawValue < CallCounter.reasonCount })
        #expect(CallCounter.bucketCount == CallCounts.durationBounds.count + 1)
    }

    @Test func `the last call, code, scope and reason have their places`() {
        counter.answered(.other, .unauthenticated)
        counter.decided(ScopeIndex(value: CallCounter.scopeCountMax - 1), .assignmentEnded)
        counter.decided(ScopeIndex(value: CallCounter.scopeCountMax), .active)
        #expect(counts[.other, .unauthenticated] == 1)
        #expect(counts[ScopeIndex(value: CallCounter.scopeCountMax - 1), .assignmentEnded] == 1)
        #expect(counts[ScopeIndex(value: CallCounter.scopeCountMax), .active] == 0)
    }

    @Test func `checks are counted by scope and reason, their time when the batch ends`() {
        for _ in 0..<3 {
            counter.decided(first, .active)
            counter.answered(.checkAccess)
        }
        #expect(counts[first, .active] == 3 && counts[.checkAccess, .ok] == 3)
        #expect(counts.durations(of: .checkAccess).sum == 0)
        counter.batchEnded(microseconds: 11)
        let durations = counts.durations(of: .checkAccess)
        #expect(durations.bucketCounts[1] == 3 && durations.sum == 33)
        counter.batchEnded(microseconds: 11)
        #expect(counts.durations(of: .checkAccess) == durations)
    }

    @Test(arguments: [(10, 0), (11, 1), (5_000_000, 15), (5_000_001, 16)] as [(UInt64, Int)])
    func `a duration at a bound belongs to its bucket`(microseconds: UInt64, bucket: Int) {
        counter.completed(.getCustomer, code: 0, microseconds: microseconds)
        #expect(counts.durations(of: .getCustomer).bucketCounts[bucket] == 1)
    }

    @Test func `a call that comes back is counted with its code`() {
        counter.completed(.linkCustomer, code: 9, microseconds: 1)
        counter.completed(.linkCustomer, code: 17, microseconds: 1)
        counter.completed(.linkCustomer, code: -1, microseconds: 1)
        #expect(counts[.linkCustomer, .failedPrecondition] == 1)
        #expect(counts.durations(of: .linkCustomer).sum == 1)
    }
}
