import Service
import Testing

@testable import Session

@Suite struct CallQueueTests {
    private func call(_ id: UInt64, isHeavyRead: Bool, deadline: Int64 = 100) -> PendingCall {
        PendingCall(
            tag: CallTag(requestID: id, byteCount: 1, isHeavyRead: isHeavyRead),
            deadlineMilliseconds: deadline, call: .write(.notification(payload: [])))
    }

    private func check(_ id: UInt64, revision: UInt64, deadline: Int64 = 100) -> CallQueue.Parked {
        CallQueue.Parked(
            requestID: id, minRevision: revision, deadlineMilliseconds: deadline, body: [1, 2, 3])
    }

    @Test func `an empty queue waits for nothing`() {
        var queue = CallQueue()
        #expect(queue.takeReady()?.tag == nil)
        #expect(queue.awaitedRevision == nil)
        #expect(queue.nextDeadlineMilliseconds == nil)
    }

    @Test func `heavy reads become ready one at a time, in order`() {
        var queue = CallQueue()
        for id in 1...3 { queue.add(call(UInt64(id), isHeavyRead: true)) }
        for id in 1...3 {
            queue.startHeavyRead(pendingOutputByteCount: 0, below: 10)
            queue.startHeavyRead(pendingOutputByteCount: 0, below: 10)
            #expect(queue.takeReady()?.tag.requestID == UInt64(id))
            #expect(queue.takeReady()?.tag == nil)
            queue.heavyReadEnded()
        }
    }

    @Test func `a heavy read waits for room in the output`() {
        var queue = CallQueue()
        queue.add(call(1, isHeavyRead: true))
        queue.startHeavyRead(pendingOutputByteCount: 10, below: 10)
        #expect(queue.takeReady()?.tag == nil)
        queue.startHeavyRead(pendingOutputByteCount: 9, below: 10)
        #expect(queue.takeReady()?.tag.requestID == 1)
    }

    @Test func `the lowest revision and the first deadline are what is waited for`() {
        var queue = CallQueue()
        queue.park(check(1, revision: 9, deadline: 50))
        queue.park(check(2, revision: 7, deadline: 60))
        queue.add(call(3, isHeavyRead: true, deadline: 40))
        #expect(queue.awaitedRevision == 7)
        #expect(queue.nextDeadlineMilliseconds == 40)
        #expect(queue.parkedByteCount == 6)
        #expect(queue.takeParked(upTo: 6).isEmpty)
        #expect(queue.takeParked(upTo: 7).map(\.requestID) == [2])
        #expect(queue.takeDeferred(dueAt: 39).isEmpty)
        #expect(queue.takeDeferred(dueAt: 40).map(\.tag.requestID) == [3])
        #expect(queue.takeParked(dueAt: 49).isEmpty)
        #expect(queue.takeParked(dueAt: 50).map(\.requestID) == [1])
        #expect(queue.parkedByteCount == 0)
        #expect(queue.nextDeadlineMilliseconds == nil)
    }
}
