import TestSupport
import Testing

@testable import Transport

@Suite struct DeadlineQueueTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func `entries come out in the order of their deadlines`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = DeadlineQueue<Int>()
        var expected: [Int] = []
        for _ in 0..<2_000 {
            let deadline = Int.random(in: 0..<1_000, using: &generator)
            queue.insert(deadline, atMilliseconds: Int64(deadline))
            expected.append(deadline)
        }
        expected.sort()
        #expect(queue.earliestMilliseconds == expected.first.map(Int64.init))
        var taken: [Int] = []
        while let deadline = queue.popDue(atMilliseconds: 1_000) { taken.append(deadline) }
        #expect(taken == expected, "seed \(seed)")
        #expect(queue.isEmpty)
    }

    @Test func `an entry is due from its instant on and not before`() {
        var queue = DeadlineQueue<String>()
        queue.insert("late", atMilliseconds: 20)
        queue.insert("early", atMilliseconds: 10)
        #expect(queue.popDue(atMilliseconds: 9) == nil)
        #expect(queue.popDue(atMilliseconds: 10) == "early")
        #expect(queue.popDue(atMilliseconds: 10) == nil)
        #expect(queue.earliestMilliseconds == 20)
        queue.removeAll()
        #expect(queue.isEmpty && queue.earliestMilliseconds == nil)
        #expect(queue.popDue(atMilliseconds: .max) == nil)
    }
}
