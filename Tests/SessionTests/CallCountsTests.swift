import Entitlements
import Testing

@testable import Service
@testable import Session

@Suite struct CallCountsTests {
    @Test func `loops add up`() {
        let loops = (0..<2).map { _ in CallCounter() }
        let scope = ScopeIndex(value: 1)
        for loop in loops {
            loop.decided(scope, .refunded)
            loop.answered(.checkAccess)
            loop.batchEnded(microseconds: 5)
            loop.received(byteCount: 7)
            loop.sent(byteCount: 9)
        }
        var counts = CallCounts()
        for loop in loops { counts.add(loop) }
        #expect(counts[scope, .refunded] == 2 && counts[.checkAccess, .ok] == 2)
        #expect(counts.durations(of: .checkAccess).sum == 10)
        #expect(counts.receivedByteCount == 14 && counts.sentByteCount == 18)
    }

    @Test func `nothing is nothing`() {
        #expect(CallCounts()[.checkAccess, .ok] == 0)
        #expect(CallCounts() == CallCounts())
    }
}
