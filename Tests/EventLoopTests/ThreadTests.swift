import Glibc
import Synchronization
import Testing

@testable import EventLoop

@Suite struct ThreadTests {
    /// With 0 it is the calling thread on Linux.
    private static let process = Int32(PRIO_PROCESS.rawValue)

    @Test func `join waits for the end, and a second join returns at once`() throws {
        let box = SharedCount()
        let thread = try Thread(name: "a name of more than fifteen bytes") {
            for _ in 0..<1_000 { box.count.add(1, ordering: .relaxed) }
        }
        thread.join()
        thread.join()
        #expect(box.count.load(ordering: .relaxed) == 1_000)
    }

    @Test func `a thread of low priority runs all the same`() throws {
        let box = SharedCount()
        let thread = try Thread(name: "low", priority: .low) {
            box.count.add(1, ordering: .relaxed)
        }
        thread.join()
        #expect(box.count.load(ordering: .relaxed) == 1)
    }

    @Test func `a thread has room for deep recursion`() throws {
        let box = SharedCount()
        let thread = try Thread(name: "deep") {
            box.count.store(descend(2_000), ordering: .relaxed)
        }
        thread.join()
        #expect(box.count.load(ordering: .relaxed) == 2_000)
    }

    @Test func `each thread has an identity of its own`() throws {
        let own = ThreadIdentity.current
        #expect(own == ThreadIdentity.current)
        let box = SharedCount()
        let thread = try Thread(name: "other") {
            if ThreadIdentity.current != own { box.count.store(1, ordering: .relaxed) }
        }
        thread.join()
        #expect(box.count.load(ordering: .relaxed) == 1)
    }

    @Test(arguments: [
        (Thread.Priority.prompt, 0), (.normal, 0), (.low, 10), (.lowest, 15),
    ])
    func `priorities order the threads that want one core`(
        priority: Thread.Priority, niceness: Int
    ) throws {
        let box = SharedCount()
        let own = Int(getpriority(Self.process, 0))
        let thread = try Thread(name: "nice", priority: priority) {
            box.count.store(Int(getpriority(Self.process, 0)), ordering: .relaxed)
        }
        thread.join()
        // The last is 19 when the tests themselves run nice.
        #expect(box.count.load(ordering: .relaxed) == max(own, niceness))
    }

    @Test(.enabled(if: Thread.sliceMicroseconds > 0))
    func `a prompt thread asks for short turns`() throws {
        let usual = Thread.sliceMicroseconds
        let box = SharedCount()
        for (priority, expected) in [(Thread.Priority.prompt, 100), (.low, usual)] {
            let thread = try Thread(name: "turns", priority: priority) {
                box.count.store(Int(Thread.sliceMicroseconds), ordering: .relaxed)
            }
            thread.join()
            #expect(box.count.load(ordering: .relaxed) == Int(expected))
        }
    }

    @Test func `giving way returns when nobody waits`() {
        for _ in 0..<3 { Thread.giveWay() }
    }
}

/// A number that threads share.
final class SharedCount: Sendable {
    let count = Atomic(0)
}

/// Uses at least 1 KiB of stack a level: 2 MiB would overflow the 512 KiB that macOS gives.
@inline(never)
func descend(_ depth: Int) -> Int {
    guard depth > 0 else { return 0 }
    let block = InlineArray<128, Int>(repeating: depth)
    return descend(depth - 1) + (block[depth % 128] == depth ? 1 : 0)
}
