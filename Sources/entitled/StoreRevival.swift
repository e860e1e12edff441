internal import EventLoop
internal import RocksDBStorage

/// Has the store try again by itself after a refused commit.
///
/// Commits alone would not do: a server that takes no writes is not ready, so nobody sends it
/// anything, and without a commit the store would never learn that there is space again.
final class StoreRevival: Sendable {
    private let thread = RungThread()

    /// Writing has stopped. Any thread; before `start` as well.
    func writingStopped() { thread.ring() }

    /// Begins to look after `store`; sleeps until writing stops.
    ///
    /// - Throws: `UVError` when the system refuses a thread.
    func start(_ store: RocksDBStore, everyMilliseconds pause: Int64) throws(UVError) {
        try thread.start("store revival", priority: .low) { thread in
            // A ring may come for what was put right since.
            if store.isWritable {
                thread.rest(milliseconds: .max)
            } else if thread.rest(milliseconds: pause) {
                store.tryWriting()
            }
        }
    }

    /// Ends the thread and waits for it; before the store is closed. May be called again.
    func stop() { thread.stop() }
}
