internal import EventLoop
internal import Service

/// Has what forgotten customers left on the disk removed, beside serving: after each commit that
/// forgets, at the start for what an earlier process has not come to, and again while the store
/// takes no writes.
final class ForgottenEraser: Sendable {
    /// Until it is tried again.
    private static let pauseMilliseconds: Int64 = 5_000

    private let thread = RungThread()

    /// Somebody was forgotten. Any thread; before `start` as well.
    func ring() { thread.ring() }

    /// Begins with what is left of an earlier process.
    ///
    /// - Parameter erase: Removes what is to go; whether all of it has gone.
    /// - Throws: `UVError` when the system refuses a thread.
    func start(_ erase: @escaping @Sendable () -> Bool) throws(UVError) {
        try thread.start("eraser", priority: .lowest) { thread in
            thread.rest(milliseconds: erase() ? .max : Self.pauseMilliseconds)
        }
    }

    /// Ends the thread and waits for it; before the store is closed. What is left goes at the next
    /// start. May be called again.
    func stop() { thread.stop() }
}
