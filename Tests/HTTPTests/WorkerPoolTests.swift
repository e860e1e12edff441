@testable import HTTP
import Testing

@Suite struct WorkerPoolTests {
    @Test func `every job is done, those that wait at the end as well`() throws {
        let done = Monitor(0)
        let pool = try #require(WorkerPool(threadCount: 3, waitingCountMax: 5_000))
        for _ in 0..<5_000 {
            #expect(pool.submit { done.withLock { $0 += 1 } })
        }
        #expect(pool.end(until: .max))
        #expect(done.withLock { $0 } == 5_000)
        #expect(!pool.submit {})
    }

    @Test func `a full queue takes no more`() throws {
        let gate = Monitor(false)
        let pool = try #require(WorkerPool(threadCount: 1, waitingCountMax: 2))
        let started = Monitor(false)
        #expect(
            pool.submit {
                started.withLockNotifying { $0 = true }
                _ = gate.wait { $0 ? true : nil }
            })
        _ = started.wait { $0 ? true : nil }
        #expect(pool.submit {})
        #expect(pool.submit {})
        #expect(!pool.submit {})
        gate.withLockNotifying { $0 = true }
        #expect(pool.end(until: .max))
    }

    @Test func `a job that hangs is left behind`() throws {
        let gate = Monitor(false)
        let pool = try #require(WorkerPool(threadCount: 1, waitingCountMax: 2))
        #expect(pool.submit { _ = gate.wait { $0 ? true : nil } })
        #expect(!pool.end(until: MonotonicTime.milliseconds + 20))
        gate.withLockNotifying { $0 = true }
        #expect(pool.end(until: .max))
    }
}
