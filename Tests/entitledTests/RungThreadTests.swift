import EventLoop
import Synchronization
import Testing

@testable import entitled

@Suite struct RungThreadTests {
    private final class Turns: Sendable {
        let count = Atomic(0)
        let taken = Doorbell()

        func take() {
            count.add(1, ordering: .relaxed)
            taken.ring()
        }
    }

    @Test func `it takes a turn at the start and one for each ring`() throws {
        let thread = RungThread()
        let turns = Turns()
        try thread.start("turns", priority: .low) { thread in
            turns.take()
            thread.rest(milliseconds: .max)
        }
        for _ in 0..<3 {
            #expect(turns.taken.wait(milliseconds: 60_000))
            thread.ring()
        }
        #expect(turns.taken.wait(milliseconds: 60_000))
        thread.stop()
        #expect(turns.count.load(ordering: .relaxed) == 4)
    }

    @Test func `a rest that is over is no end, one that the end cuts is`() throws {
        let thread = RungThread()
        let turns = Turns()
        let wentOn = Atomic(0)
        try thread.start("turns", priority: .low) { thread in
            turns.take()
            let isLong = turns.count.load(ordering: .relaxed) == 3
            if thread.rest(milliseconds: isLong ? .max : 1) {
                wentOn.add(1, ordering: .relaxed)
            }
        }
        while turns.count.load(ordering: .relaxed) < 3 { turns.taken.wait(milliseconds: 10) }
        thread.stop()
        thread.stop()
        #expect(wentOn.load(ordering: .relaxed) == 2)
        #expect(turns.count.load(ordering: .relaxed) == 3)
    }

    @Test func `an end before the start is an end`() throws {
        let thread = RungThread()
        let turns = Turns()
        thread.stop()
        try thread.start("turns", priority: .low) { _ in turns.take() }
        thread.stop()
        #expect(turns.count.load(ordering: .relaxed) == 0)
    }
}
