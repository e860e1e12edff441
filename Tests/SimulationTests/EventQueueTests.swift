import TestSupport
import Testing

@testable import Simulation

@Suite struct EventQueueTests {
    @Test func `what is due first comes first, and in order at the same time`() {
        var generator = SeededGenerator(seed: 7)
        var queue = EventQueue<Int>()
        var expected: [(at: Int64, index: Int)] = []
        for index in 0..<500 {
            let at = Int64(generator.number(0...40))
            queue.insert(index, at: at)
            expected.append((at, index))
        }
        expected.sort { ($0.at, $0.index) < ($1.at, $1.index) }
        #expect(queue.nextMilliseconds == expected[0].at)
        for (at, index) in expected {
            let next = queue.pop()
            #expect(next?.at == at && next?.action == index)
        }
        let last = queue.pop()?.action
        #expect(last == nil)
        #expect(queue.count == 0)
    }

}
