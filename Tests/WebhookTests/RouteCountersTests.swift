@testable import Webhook
import Testing

@Suite struct RouteCountersTests {
    @Test func `a stranger adds no series`() {
        let counters = RouteCounters(paths: ["/a"])
        let count = counters.values.count
        counters.count("/a", 200)
        counters.count("/a", 200)
        counters.count("/b", 404)
        counters.count("/c", 418)
        #expect(counters.values.count == count)
        #expect(counters.values.filter { $0.count > 0 }.count == 3)
        #expect(counters.values.first { $0.path == "/a" && $0.status == 200 }?.count == 2)
        #expect(counters.values.first { $0.path == "other" && $0.status == 404 }?.count == 1)
        #expect(counters.values.first { $0.path == "other" && $0.status == 500 }?.count == 1)
    }
}
