import EventLoop
import Testing

@Suite struct DoorbellTests {
    @Test func `a ring before the wait is not slept over, and counts once`() {
        let bell = Doorbell()
        bell.ring()
        bell.ring()
        #expect(bell.wait(milliseconds: 60_000))
        #expect(!bell.wait(milliseconds: 0))
    }

    @Test(arguments: [Int64.min, -1, 0, 20])
    func `nobody rings: the time is waited, and no less`(milliseconds: Int64) {
        let start = MonotonicClock.nowMicroseconds
        #expect(!Doorbell().wait(milliseconds: milliseconds))
        let waited = MonotonicClock.nowMicroseconds - start
        #expect(waited >= UInt64(max(0, milliseconds)) * 1_000)
    }

    @Test func `a thread that sleeps is woken, however long it meant to sleep`() throws {
        let bell = Doorbell()
        let woken = BlockingQueue<Bool>(capacity: 1)
        let sleeper = try Thread(name: "sleeper") {
            _ = woken.push(bell.wait(milliseconds: .max))
        }
        bell.ring()
        #expect(woken.pop() == true)
        sleeper.join()
    }
}
