import Testing

@testable import Service

@Suite struct ServiceTimingsTests {
    @Test func `a time that has passed is counted once, in seconds`() {
        let timings = ServiceTimings()
        timings.commits.observe(since: .now - .milliseconds(1_500))
        let counts = timings.commits.counts
        #expect(counts.count == 1 && timings.verifications.counts.count == 0)
        #expect(counts.sum >= 1.5)
    }
}
