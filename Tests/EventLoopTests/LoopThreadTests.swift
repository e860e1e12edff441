import Testing

@testable import EventLoop

@Suite struct LoopThreadTests {
    @Test func `work runs on the loop's thread in order until it is stopped`() throws {
        let numbers = BlockingQueue<Int>(capacity: 200)
        let own = ThreadIdentity.current
        let thread = try LoopThread(name: "loop") { _ in
            _ = numbers.push(ThreadIdentity.current == own ? -1 : 0)
        }
        for number in 1...100 {
            #expect(thread.execute { _ in _ = numbers.push(number) })
        }
        thread.stop()
        thread.join()
        var all: [Int] = []
        #expect(numbers.pop(upTo: 200, into: &all))
        #expect(all == Array(0...100))
        #expect(!thread.execute { _ in })
    }

    @Test func `handles made on the thread are closed at its end`() throws {
        let counts = BlockingQueue<Int>(capacity: 1)
        let thread = try LoopThread(name: "loop", spinMicroseconds: 50) { loop in
            guard let timer = try? Timer(loop: loop, onFire: {}) else { return }
            timer.start(afterMilliseconds: 60_000)
            _ = counts.push(loop.openHandleCount)
        }
        #expect(counts.pop() == 2)
        thread.stop()
        thread.join()
    }
}
