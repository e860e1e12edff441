internal import EventLoop
internal import Synchronization

/// A thread that does something again and again, and rests in between until it is rung, a time is
/// over, or it is to end.
final class RungThread: Sendable {
    private let bell = Doorbell()
    private let isEnding = Atomic(false)
    private let thread = Locked<Thread?>(nil)

    /// Ends a rest. Any thread; before `start` as well.
    func ring() { bell.ring() }

    /// Begins to take turns, one after the other until the end; a turn rests by `rest`.
    ///
    /// - Throws: `UVError` when the system refuses a thread.
    func start(
        _ name: String, priority: Thread.Priority, _ turn: @escaping @Sendable (RungThread) -> Void
    ) throws(UVError) {
        let started = try Thread(name: name, priority: priority) { [self] in
            while !isEnding.load(ordering: .acquiring) { turn(self) }
        }
        thread.withLock { $0 = started }
    }

    /// Rests; in a turn.
    ///
    /// - Returns: Whether to go on; false where the end has come.
    @discardableResult
    func rest(milliseconds: Int64) -> Bool {
        bell.wait(milliseconds: milliseconds)
        return !isEnding.load(ordering: .acquiring)
    }

    /// Ends the thread after its turn and waits for it. May be called again.
    func stop() {
        isEnding.store(true, ordering: .releasing)
        bell.ring()
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        started?.join()
    }
}
