import EventLoop
import Testing

@testable import Transport

@Suite struct LoopPortTests {
    /// What a loop is told about revisions by `body`.
    func reachedCount(_ body: (LoopPort) -> Void) throws -> Int {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let receiver = try InboxReceiver<LoopMessage>(loop: loop) { batch in
            for message in batch {
                if case .revisionReached = message { count += 1 }
            }
        }
        body(LoopPort(inbox: receiver.inbox))
        receiver.deliver()
        return count
    }

    @Test(arguments: [(4, 0), (5, 1), (6, 1), (UInt64.max - 1, 1)] as [(UInt64, Int)])
    func `a loop is woken by the revision that it waits for or a later one`(
        revision: UInt64, expected: Int
    ) throws {
        let count = try reachedCount { port in
            port.awaitRevision(5)
            port.announce(revision: revision)
        }
        #expect(count == expected)
    }

    @Test func `a loop that waits for nothing is not woken`() throws {
        #expect(try reachedCount { $0.announce(revision: 9) } == 0)
        let count = try reachedCount { port in
            port.awaitRevision(5)
            port.awaitRevision(.max)
            port.announce(revision: 9)
        }
        #expect(count == 0)
    }

    @Test func `a loop is woken once until it says anew what it waits for`() throws {
        let count = try reachedCount { port in
            port.awaitRevision(5)
            port.announce(revision: 5)
            port.announce(revision: 6)
            port.awaitRevision(7)
            port.announce(revision: 7)
        }
        #expect(count == 2)
    }
}
