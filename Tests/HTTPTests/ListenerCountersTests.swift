@testable import HTTP
import Testing

@Suite struct ListenerCountersTests {
    @Test func `responses are counted by the first digit of their status`() {
        let counters = ListenerCounters()
        for status in [100, 200, 204, 299, 404, 500, 599, 99, 600] { counters.answered(status) }
        counters.tooLargeRequests.increase()
        let counts = counters.counts(openConnections: 3)
        #expect(counts.responses == [1, 3, 0, 1, 2])
        #expect(counts.tooLargeRequests == 1)
        #expect(counts.connections == 3)
        #expect(ListenerCounters().counts(openConnections: 0) == HTTPListenerCounts())
    }
}
