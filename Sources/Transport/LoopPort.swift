internal import EventLoop
internal import Session
internal import Synchronization

/// What other threads tell a loop.
enum LoopMessage: Sendable {
    /// A call is done; the frame answers it.
    case completed(CallTicket, frame: [UInt8])
    /// The revision that the loop waited for has come.
    case revisionReached
    /// Say that the loop turns.
    case pulse
    /// Answer what is in flight, take nothing new, end by the grace.
    case drain(graceMilliseconds: UInt64)
    /// End now.
    case stop
}

/// Where the answer of a call goes that has left its loop.
struct CallTicket: Hashable, Sendable {
    /// Which loop.
    var loopIndex: Int
    /// Which call of that loop; never used again.
    var callID: UInt64
}

/// What other threads know of a loop.
final class LoopPort: Sendable {
    /// Its messages.
    let inbox: Inbox<LoopMessage>
    /// What it has answered.
    let counts = CallCounter()
    /// Whether it turns.
    let pulse = LoopPulse()
    /// The lowest revision that a parked check of the loop waits for; `.max` = none.
    private let awaited = Atomic(UInt64.max)

    init(inbox: Inbox<LoopMessage>) { self.inbox = inbox }

    /// Says which revision the loop waits for. The loop looks at the service's revision once more
    /// afterwards: a commit in between has not seen this store.
    func awaitRevision(_ revision: UInt64) {
        awaited.store(revision, ordering: .sequentiallyConsistent)
    }

    /// Wakes the loop if it waits for `revision` or less. Called after that is visible.
    func announce(revision: UInt64) {
        guard awaited.load(ordering: .sequentiallyConsistent) <= revision else { return }
        // Once is enough: the loop says anew what it waits for.
        awaited.store(.max, ordering: .sequentiallyConsistent)
        inbox.send(.revisionReached)
    }
}
