import Testing

@testable import EventLoop

@Suite struct InboxTests {
    @Test func `what threads send arrives whole, in order for each sender`() throws {
        let loop = try Loop()
        let (senderCount, messageCount) = (4, 10_000)
        var received = [[Int]](repeating: [], count: senderCount)
        var batchCount = 0
        let receiver = try InboxReceiver<(Int, Int)>(loop: loop) { batch in
            batchCount += 1
            for (sender, number) in batch { received[sender].append(number) }
            if received.allSatisfy({ $0.count == messageCount }) { loop.stop() }
        }
        let inbox = receiver.inbox
        let threads = try (0..<senderCount).map { sender in
            try Thread(name: "sender") {
                for number in 0..<messageCount { inbox.send((sender, number)) }
            }
        }
        loop.run()
        for thread in threads { thread.join() }
        #expect(received.allSatisfy { $0 == Array(0..<messageCount) })
        #expect(batchCount <= senderCount * messageCount)
        loop.close()
    }

    @Test func `a burst sent before the loop runs is one batch`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var batches: [[Int]] = []
        let receiver = try InboxReceiver<Int>(loop: loop) { batch in
            batches.append(batch)
            loop.stop()
        }
        #expect(receiver.inbox.send(1))
        #expect(receiver.inbox.send(contentsOf: [2, 3]))
        #expect(receiver.inbox.send(contentsOf: []))
        loop.run()
        #expect(batches == [[1, 2, 3]])
    }

    @Test func `what the receiver sends to itself comes in a later batch`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var batches: [[Int]] = []
        var own: Inbox<Int>?
        let receiver = try InboxReceiver<Int>(loop: loop) { batch in
            batches.append(batch)
            if batch == [1] { own?.send(2) } else { loop.stop() }
        }
        own = receiver.inbox
        receiver.inbox.send(1)
        loop.run()
        #expect(batches == [[1], [2]])
    }

    @Test func `deliver takes what has arrived without waiting`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var batches: [[Int]] = []
        let receiver = try InboxReceiver<Int>(loop: loop) { batches.append($0) }
        receiver.inbox.send(7)
        receiver.deliver()
        receiver.deliver()
        #expect(batches == [[7]])
        receiver.close()
    }

    @Test func `a receiver lives as long as its loop and no longer`() throws {
        let loop = try Loop()
        var count = 0
        weak var leaked: InboxReceiver<Int>?
        let inbox: Inbox<Int>
        do {
            let receiver = try InboxReceiver<Int>(loop: loop) { _ in
                count += 1
                loop.stop()
            }
            leaked = receiver
            inbox = receiver.inbox
        }
        inbox.send(1)
        loop.run()
        #expect(count == 1)
        #expect(leaked != nil)
        loop.close()
        #expect(leaked == nil)
    }

    @Test func `a closed inbox takes no more`() throws {
        let loop = try Loop()
        var count = 0
        let receiver = try InboxReceiver<Int>(loop: loop) { _ in count += 1 }
        receiver.inbox.send(1)
        receiver.close()
        #expect(!receiver.inbox.send(2))
        #expect(!receiver.inbox.send(contentsOf: [3]))
        loop.run()
        loop.close()
        #expect(count == 0)
        #expect(!receiver.inbox.send(4))
        #expect(loop.openHandleCount == 0)
    }
}
