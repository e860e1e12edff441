internal import EventLoop
internal import RocksDBStorage
internal import Synchronization

/// Has the store try again by itself after a refused commit.
///
/// Commits alone would not do: a server that takes no writes is not ready, so nobody sends it
/// anything, and without a commit the store would never learn that there is space again.
final class StoreRevival: Sendable {
    private let bell = Doorbell()
    private let isEnding = Atomic(false)
    private let thread = Locked<Thread?>(nil)

    /// Writing has stopped. Any thread; before `start` as well.
    func writingStopped() { bell.ring() }

    /// Begins to look after `store`; sleeps until writing stops.
    ///
    /// - Throws: `UVError` when the system refuses a thread.
    func start(_ store: RocksDBStore, everyMilliseconds pause: Int64) throws(UVError) {
        let started = try Thread(name: "store revival", priority: .low) { [self] in
            while !isEnding.load(ordering: .acquiring) {
                // A ring may come for what was put right since.
                if store.isWritable {
                    bell.wait(milliseconds: .max)
                } else {
                    bell.wait(milliseconds: pause)
                    if !isEnding.load(ordering: .acquiring) { store.tryWriting() }
                }
            }
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread and waits for it; before the store is closed. May be called again.
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
