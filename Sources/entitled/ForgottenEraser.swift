internal import EventLoop
internal import Service
internal import Synchronization

/// Has what forgotten customers left on the disk removed, beside serving: after each commit that
/// forgets, at the start for what an earlier process has not come to, and again while the store
/// takes no writes.
final class ForgottenEraser: Sendable {
    /// Until it is tried again.
    private static let pauseMilliseconds: Int64 = 5_000

    private let bell = Doorbell()
    private let isEnding = Atomic(false)
    private let thread = Locked<Thread?>(nil)

    /// Somebody was forgotten. Any thread; before `start` as well.
    func ring() { bell.ring() }

    /// Begins with what is left of an earlier process.
    ///
    /// - Parameter erase: Removes what is to go; whether all of it has gone.
    /// - Throws: `UVError` when the system refuses a thread.
    func start(_ erase: @escaping @Sendable () -> Bool) throws(UVError) {
        let started = try Thread(name: "eraser", priority: .lowest) { [self] in
            while !isEnding.load(ordering: .acquiring) {
                bell.wait(milliseconds: erase() ? .max : Self.pauseMilliseconds)
            }
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread and waits for it; before the store is closed. What is left goes at the next
    /// start. May be called again.
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
