internal import EventLoop
internal import Service
internal import Synchronization

/// Carries what loops have metered to the store.
///
/// A table goes loop -> queue -> metering thread -> back to its loop, which counts in another one
/// meanwhile. There are two tables for each loop: one that has not come back is a store that is
/// behind, and then the loop drops what it has no room for, rather than wait.
final class UsageDesk: Sendable {
    private struct Parcel: Sendable {
        var loopIndex: Int
        var use: MeteredUse
    }

    private let parcels: BlockingQueue<Parcel>
    /// For each loop; only that loop takes from it.
    private let spares: [BlockingQueue<MeteredUse>]
    private let counters: ServerCounters
    private let thread = Locked<Thread?>(nil)

    init(loopCount: Int, counters: ServerCounters) {
        // Two tables for each loop, and what it makes when it ends.
        parcels = BlockingQueue(capacity: 3 * loopCount)
        spares = (0..<loopCount).map { _ in
            let spares = BlockingQueue<MeteredUse>(capacity: 2)
            _ = spares.push(MeteredUse())
            return spares
        }
        self.counters = counters
    }

    /// Starts the thread.
    ///
    /// - Parameter write: stores what was counted and empties it; gives how many checks were lost.
    /// - Throws: `UVError` when the system refuses it.
    func start(write: @escaping @Sendable (MeteredUse) -> UInt64) throws(UVError) {
        let started = try Thread(name: "metering", priority: .low) {
            while let parcel = self.parcels.pop() {
                self.countLost(write(parcel.use))
                // A loop that ended has one more than it takes back.
                _ = self.spares[parcel.loopIndex].push(parcel.use)
            }
        }
        thread.withLock { $0 = started }
    }

    /// An empty table for a loop; nil while its own has not come back. That loop's thread only.
    func takeSpare(loopIndex: Int) -> MeteredUse? {
        let spares = spares[loopIndex]
        return spares.count > 0 ? spares.pop() : nil
    }

    /// Sends what a loop has counted on its way. Never blocks.
    func send(_ use: MeteredUse, loopIndex: Int) {
        let isQueued = parcels.push(Parcel(loopIndex: loopIndex, use: use))
        precondition(isQueued, "there are no more tables than the queue holds")
    }

    /// Counts granted checks that are not metered.
    func countLost(_ count: UInt64) {
        if count > 0 {
            counters.unmeteredChecks.add(Int(clamping: count), ordering: .relaxed)
        }
    }

    /// Stores what was sent, ends the thread and waits for it. After the loops have ended.
    func stop() {
        parcels.close()
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        started?.join()
    }
}

/// Says when a loop's meter is flushed. Loop thread only.
final class UsageFlusher {
    /// A crowded table is sent on at most so often: 24,576 records a second and loop take about a
    /// fifth of a core, and beyond that checks would pay for their metering.
    private static let paceMilliseconds: Int64 = 2_000

    let meter = UsageMeter()
    private let desk: UsageDesk
    private let loopIndex: Int
    private let intervalMilliseconds: Int64
    private let loop: Loop
    private var timer: Timer?
    private var isTimerRunning = false
    private var flushedAt = Int64.min / 2

    init(
        loop: Loop, desk: UsageDesk, loopIndex: Int, intervalMilliseconds: Int64
    ) throws(UVError) {
        self.loop = loop
        self.desk = desk
        self.loopIndex = loopIndex
        self.intervalMilliseconds = intervalMilliseconds
        timer = try Timer(loop: loop) { [unowned self] in timerFired() }
    }

    /// After every event of a connection. At idle no timer runs.
    func watch() {
        guard !meter.isEmpty else { return }
        if !isTimerRunning { startTimer() }
        guard meter.isCrowded else { return }
        desk.countLost(meter.takeDroppedCount())
        let now = Int64(truncatingIfNeeded: loop.nowMilliseconds)
        if now - flushedAt >= Self.paceMilliseconds { flush(at: now) }
    }

    private func startTimer() {
        isTimerRunning = true
        timer?.start(afterMilliseconds: UInt64(intervalMilliseconds))
    }

    private func timerFired() {
        isTimerRunning = false
        flush(at: Int64(truncatingIfNeeded: loop.nowMilliseconds))
        if !meter.isEmpty { startTimer() }
    }

    private func flush(at now: Int64) {
        guard let spare = desk.takeSpare(loopIndex: loopIndex) else { return }
        flushedAt = now
        meter.flush(into: spare)
        desk.send(spare, loopIndex: loopIndex)
    }

    /// Sends on all that is left: the loop ends.
    func end() {
        timer?.close()
        timer = nil
        desk.countLost(meter.takeDroppedCount())
        guard !meter.isEmpty else { return }
        let spare = desk.takeSpare(loopIndex: loopIndex) ?? MeteredUse()
        meter.flush(into: spare)
        desk.send(spare, loopIndex: loopIndex)
    }
}
