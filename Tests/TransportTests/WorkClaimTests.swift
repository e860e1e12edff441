import EventLoop
import Testing

@testable import Transport

@Suite struct WorkClaimTests {
    @Test func `what was started cannot be given up`() {
        let claim = WorkClaim()
        #expect(claim.start())
        #expect(!claim.abandon())
        #expect(!claim.isAbandoned)
        #expect(!claim.start())
    }

    @Test func `what was given up cannot be started`() {
        let claim = WorkClaim()
        #expect(claim.abandon())
        #expect(claim.isAbandoned)
        #expect(!claim.start())
        #expect(!claim.abandon())
    }

    @Test func `of two threads exactly one has the last word`() throws {
        let claims = (0..<5_000).map { _ in WorkClaim() }
        let started = Locked<[Bool]>([])
        let thread = try Thread(name: "worker") {
            let results = claims.map { $0.start() }
            started.withLock { $0 = results }
        }
        let abandoned = claims.map { $0.abandon() }
        thread.join()
        let results = started.withLock { $0 }
        #expect(zip(results, abandoned).allSatisfy { $0 != $1 })
    }
}
