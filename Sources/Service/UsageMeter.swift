package import SnapshotTable
import Storage

/// What a loop has granted since its last flush: checks and units by transaction and day.
///
/// Loop thread only. It allocates nothing, locks nothing, and waits for nobody: what does not fit
/// is dropped and counted. What is in it is lost in a crash.
package final class UsageMeter {
    /// 49,152 transactions and days before it is crowded: 4 MiB, of which the system gives what is
    /// used.
    package static let slotCount = 1 << 16

    private let table: UsageTable
    private var day: UInt32 = 0
    /// Where checks of a batch that is not answered yet will be counted.
    private var pending: [(slot: Int, units: UInt64)] = []
    /// Checks that were granted and could not be counted, since the last `takeDroppedCount`.
    private var droppedCount: UInt64 = 0

    /// A meter with nothing in it.
    ///
    /// - Parameter slotCount: a power of two, at least 8.
    package init(slotCount: Int = UsageMeter.slotCount) {
        table = UsageTable(slotCount: slotCount)
        // As many as a batch of checks can have.
        pending.reserveCapacity(1_024)
    }

    /// Whether nothing was counted since the last flush.
    package var isEmpty: Bool { table.count == 0 }

    /// Whether it has to be flushed soon, so that nothing is dropped.
    package var isCrowded: Bool { table.isCrowded }

    /// Says what the wall clock shows, in ms since 1970; checks count on its day of UTC.
    ///
    /// Between batches.
    package func setTime(_ milliseconds: Int64) { day = UTCDay.containing(milliseconds) }

    /// Counts a check of the present that was granted by a transaction.
    package func count(_ transactionID: Span<UInt8>, in scope: ScopeIndex, units: UInt64) {
        add(units, to: slot(transactionID, in: scope))
    }

    /// Starts a batch whose checks count only if they are answered.
    package func beginBatch() {
        table.forgetNoted()
        if !pending.isEmpty { pending.removeAll(keepingCapacity: true) }
    }

    /// Notes a check of the batch, as `count` would count it.
    ///
    /// What is noted counts in one go: the memory of one check's slot comes close while the others
    /// are answered.
    package func note(_ transactionID: Span<UInt8>, in scope: ScopeIndex, units: UInt64) {
        let number = UInt16(truncatingIfNeeded: scope.value)
        if table.note(scope: number, transactionID: transactionID, day: day, units: units) {
            return
        }
        // No more room for notes, or an id too long for one: in the order of the checks.
        table.resolveNoted(into: &pending)
        pending.append((slot(transactionID, in: scope), units))
    }

    /// Notes those of the questions at `range` that were granted for the present, as `note`.
    package func note(
        _ questions: Span<ProductQuestion>, _ verdicts: Span<ProductVerdict>, _ range: Range<Int>
    ) {
        table.note(questions, verdicts, range, day: day)
    }

    /// Counts what was noted since `beginBatch`.
    package func countBatch() {
        guard !pending.isEmpty else {
            let newDroppedCount = table.countNoted()
            if newDroppedCount > 0 { droppedCount &+= UInt64(newDroppedCount) }
            return
        }
        table.resolveNoted(into: &pending)
        for (slot, units) in pending { add(units, to: slot) }
        pending.removeAll(keepingCapacity: true)
    }

    /// The slot of a transaction on the day of the clock; -1 where there is no room for it.
    private func slot(_ transactionID: Span<UInt8>, in scope: ScopeIndex) -> Int {
        table.slot(
            scope: UInt16(truncatingIfNeeded: scope.value), transactionID: transactionID, day: day)
    }

    private func add(_ units: UInt64, to slot: Int) {
        guard slot >= 0 else {
            droppedCount &+= 1
            return
        }
        table.add(units: units, to: slot)
    }

    /// Gives away what was counted and goes on with an empty table.
    ///
    /// - Parameter spare: of the same size, empty; it comes back with what was counted.
    package func flush(into spare: MeteredUse) {
        precondition(spare.table.count == 0, "a spare table is empty")
        table.exchange(with: spare.table)
    }

    /// How many granted checks were dropped since the last call.
    package func takeDroppedCount() -> UInt64 {
        defer { droppedCount = 0 }
        return droppedCount
    }
}

/// What a loop has counted, on its way to the store, or an empty table on its way back. One thread
/// has it at a time.
package struct MeteredUse: Sendable {
    let table: UsageTable

    /// Nothing.
    ///
    /// - Parameter slotCount: that of the meter.
    package init(slotCount: Int = UsageMeter.slotCount) {
        table = UsageTable(slotCount: slotCount)
    }
}

extension EntitlementService {
    /// How many records one event changes: each costs a read and a write of the store on the commit
    /// thread, 0.7 ms in all, and what else waits for it, or for its core, is served in between.
    private static var usageCountMax: Int { 128 }

    /// Stores what a loop has counted, and empties it.
    ///
    /// A thread that may wait.
    ///
    /// - Returns: how many checks were lost, because the store did not take them.
    package func write(_ use: MeteredUse, through door: CommitDoor) -> UInt64 {
        var lostCount: UInt64 = 0
        use.table.forEachGroup(of: Self.usageCountMax) { group in
            for (scope, entries) in Dictionary(grouping: group, by: \.scope) {
                do throws(Refusal) {
                    _ = try door.commit(event(metering: entries, in: scope))
                } catch {
                    lostCount += entries.reduce(0) { $0 + $1.checks }
                }
            }
        }
        use.table.removeAll()
        return lostCount
    }

    private func event(metering group: [UsageTable.Entry], in scope: UInt16) -> Event {
        let entries = group.map { entry in
            Event.Usage.Entry(
                transactionID: entry.transactionID, day: entry.day,
                use: UsageRecord(checks: entry.checks, units: entry.units))
        }
        let usage = Event.Usage(
            scope: world(ScopeIndex(value: Int(scope))).scope, entries: entries)
        return Event(receivedAt: configuration.clock(), content: .usage(usage))
    }
}
