import Synchronization
import Testing

@testable import EventLoop

@Suite struct BlockingQueueTests {
    @Test func `elements leave in the order in which they came`() {
        let queue = BlockingQueue<Int>(capacity: 1_000)
        var expected = 0
        for round in 0..<10 {
            for number in 0..<100 { #expect(queue.push(round * 100 + number)) }
            for _ in 0..<90 {
                #expect(queue.pop() == expected)
                expected += 1
            }
        }
        #expect(queue.count == 100)
        var rest: [Int] = []
        #expect(queue.pop(upTo: 1_000, into: &rest))
        #expect(rest == Array(900..<1_000))
    }

    @Test func `a full queue refuses and takes again when there is room`() {
        let queue = BlockingQueue<Int>(capacity: 2)
        #expect(queue.push(1) && queue.push(2))
        #expect(!queue.push(3))
        #expect(queue.pop() == 1)
        #expect(queue.push(4))
        #expect(!queue.push(5))
        var rest: [Int] = []
        #expect(queue.pop(upTo: 9, into: &rest))
        #expect(rest == [2, 4])
    }

    @Test func `a batch takes no more than its limit and is appended`() {
        let queue = BlockingQueue<Int>(capacity: 300)
        for number in 0..<300 { #expect(queue.push(number)) }
        var batch = [-1]
        #expect(queue.pop(upTo: 256, into: &batch))
        #expect(batch == [-1] + Array(0..<256))
        batch.removeAll()
        #expect(queue.pop(upTo: 256, into: &batch))
        #expect(batch == Array(256..<300))
    }

    @Test func `a closed queue gives out what waits, then nothing`() {
        let queue = BlockingQueue<Int>(capacity: 4)
        #expect(queue.push(1))
        queue.close()
        #expect(!queue.push(2))
        #expect(queue.pop() == 1)
        #expect(queue.pop() == nil)
        var batch: [Int] = []
        #expect(!queue.pop(upTo: 1, into: &batch))
    }

    @Test func `closing wakes every taker that sleeps`() throws {
        let queue = BlockingQueue<Int>(capacity: 4)
        let ended = SharedCount()
        let threads = try (0..<4).map { _ in
            try Thread(name: "taker") {
                while queue.pop() != nil {}
                ended.count.add(1, ordering: .relaxed)
            }
        }
        queue.close()
        for thread in threads { thread.join() }
        #expect(ended.count.load(ordering: .relaxed) == 4)
    }

    @Test func `nothing is lost or doubled between many givers and takers`() throws {
        let queue = BlockingQueue<Int>(capacity: 16)
        let sum = SharedCount()
        let givers = try (0..<3).map { giver in
            try Thread(name: "giver") {
                for number in 1...5_000 {
                    while !queue.push(giver * 5_000 + number) {}
                }
            }
        }
        let takers = try (0..<3).map { _ in
            try Thread(name: "taker") {
                var batch: [Int] = []
                while queue.pop(upTo: 7, into: &batch) {
                    sum.count.add(batch.reduce(0, +), ordering: .relaxed)
                    batch.removeAll(keepingCapacity: true)
                }
            }
        }
        for thread in givers { thread.join() }
        queue.close()
        for thread in takers { thread.join() }
        #expect(sum.count.load(ordering: .relaxed) == 15_000 * 15_001 / 2)
    }
}
