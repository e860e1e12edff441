internal import EventLoop
internal import RocksDBStorage
internal import Service
internal import Storage
internal import Synchronization

/// Fills the table of verdicts behind the listeners; answers are right before it has ended, and
/// come from memory after it.
final class Warming: Sendable {
    private let thread: Thread
    private let hasEnded: Flag

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    init(
        _ service: DaemonService, state: DaemonState, logger: Logger
    ) throws(UVError) {
        let flag = Flag()
        hasEnded = flag
        thread = try Thread(name: "warm", priority: .low) {
            defer { flag.value.store(true, ordering: .releasing) }
            let start = MonotonicClock.nowMilliseconds
            do throws(StorageError) {
                try service.warm()
                state.endWarming()
                logger.info(
                    "warm", .init("customers", service.reader.serverInfo().customerCount),
                    .init("duration_ms", MonotonicClock.nowMilliseconds - start))
            } catch {
                logger.error("warming failed; checks read the store", .init("error", "\(error)"))
            }
        }
    }

    /// Whether the thread had ended and is joined. One that still reads is left to the end of the
    /// process: everything answered is on disk.
    func joinIfEnded() -> Bool {
        guard hasEnded.value.load(ordering: .acquiring) else { return false }
        thread.join()
        return true
    }
}
