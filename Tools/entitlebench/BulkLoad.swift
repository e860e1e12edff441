internal import Entitlements
internal import RocksDBStorage
internal import Storage
internal import Synchronization
internal import ToolSupport

/// Makes a store directory that holds a whole population, while no server runs on it.
///
/// Every record goes into a sorted table file and the database takes the files in whole: no log,
/// no memtable, and nothing left to compact. Tables are made by several threads, each for a stretch
/// of customers.
struct BulkLoad: Sendable {
    /// Who is to be in it.
    let plan: SeedPlan
    /// The app that the server will be configured for, in Production only.
    let app: SeedApp
    /// The store's directory; new or empty, with a parent.
    let directory: String
    /// How many threads make tables.
    let threadCount: Int
    /// When everything came in, by the server's clock, in milliseconds since 1970.
    let receivedMilliseconds: Int64
    /// Signs the payloads; nil: none are stored, see `BulkRecords`.
    var signer: SeedSigner?
    /// How the store's tables are laid out: as the server would.
    var options = StorageOptions()
    /// Bytes that may be filled; nil: what the file system has free.
    var freeByteCount: UInt64?
    /// Told how many customers are in tables by now; any thread.
    var onProgress: @Sendable (Int) -> Void = { _ in }

    /// Bytes on disk per transaction, and per customer beside them, without payloads; rounded up
    /// from what was measured.
    static let byteCountPerTransaction: UInt64 = 160
    static let byteCountPerCustomer: UInt64 = 320
    /// About how many transactions go into one set of tables: 40 MB on disk, and little memory,
    /// for only the matches of a stretch are kept until its end. Ten million customers make 1,400
    /// tables.
    private static let transactionCountPerStretch = 240_000

    /// What a store takes on disk, estimated.
    var estimatedByteCount: UInt64 {
        let perTransaction = Self.byteCountPerTransaction + (signer == nil ? 0 : 1_200)
        return UInt64(plan.customerCount)
            * (Self.byteCountPerCustomer
                + perTransaction * UInt64(plan.transactionCounts.upperBound))
            + perTransaction * UInt64(plan.heavyCustomerCount * plan.heavyTransactionCount)
    }

    /// Writes the store.
    ///
    /// - Throws: `StorageError`; also when less than twice the estimate is free; `CommandFailure`
    ///   after a Ctrl-C. The directory is of no use then, and no server opens it.
    func run() throws {
        let free = try freeByteCount ?? StoreLoader.freeByteCount(at: directory)
        guard free / 2 >= estimatedByteCount else {
            throw StorageError.unavailable(
                message: "\(plan.customerCount) customers take about "
                    + "\(estimatedByteCount >> 20) MiB, and twice that has to be free; "
                    + "\(free >> 20) MiB are")
        }
        let loader = try StoreLoader(directory: directory, options: options)
        let shared = Shared()
        let records = BulkRecords(
            plan: plan, scope: ScopeNumber(1),
            clock: Timestamp(milliseconds: receivedMilliseconds), signer: signer)
        let stretches = stretches
        try SeedThreads.forEach(stretches.count, threadCount: threadCount) { number in
            if Interruption.signalNumber != nil { throw CommandFailure.interrupted }
            let stretch = stretches[number]
            var tables = BulkTables(
                loader: loader, number: number,
                splitsMatches: plan.transactionCounts.upperBound <= BulkTables.splitCountMax
                    && stretch.lowerBound < plan.customerCount)
            for start in stride(
                from: stretch.lowerBound, to: stretch.upperBound, by: SeedPlan.groupSize)
            {
                let end = min(start + SeedPlan.groupSize, stretch.upperBound)
                try records.write(group: start..<end, into: &tables)
            }
            let written = try tables.finish()
            shared.finished.withLock { $0 += written }
            onProgress(shared.add(stretch.count))
        }
        try loader.finish(shared.finished.withLock { $0 }, last: counters)
    }

    private final class Shared: Sendable {
        let finished = Mutex<[FinishedTable]>([])
        private let done = Atomic<Int>(0)

        func add(_ count: Int) -> Int { done.add(count, ordering: .relaxed).newValue }
    }

    /// The customers of each set of tables; every border is one of groups.
    private var stretches: [Range<Int>] {
        let groupCount = max(
            1,
            Self.transactionCountPerStretch
                / (plan.transactionCounts.upperBound * SeedPlan.groupSize))
        let size = groupCount * SeedPlan.groupSize
        let stretches = stride(from: 0, to: plan.customerCount, by: size).map {
            $0..<min($0 + size, plan.customerCount)
        }
        // Groups of six are for those of whom there are many; a heavy one is a stretch.
        return stretches + plan.heavyIndices.map { $0..<$0 + 1 }
    }

    /// What makes the records count: the number of the scope, and the counters after all events.
    private var counters: ChangeSet {
        let count = UInt64(plan.personCount)
        let transactionCount = (0..<plan.personCount).reduce(0) {
            $0 + plan.transactionCount(of: $1)
        }
        let scope = Scope(bundleID: app.bundleID, environment: .production)
        var changes = ChangeSet()
        changes.put(RecordCodec.encode(1), for: Key.scope(scope), in: .meta)
        changes.put(RecordCodec.encode(2), for: Key.nextScope, in: .meta)
        changes.put([], for: Key.namedSnapshots, in: .meta)
        guard count > 0 else { return changes }
        changes.put(RecordCodec.encode(count), for: Key.revision, in: .meta)
        changes.put(RecordCodec.encode(count + 1), for: Key.nextCustomer, in: .meta)
        changes.put(
            RecordCodec.encode(customers: count, transactions: UInt64(transactionCount)),
            for: Key.counts, in: .meta)
        return changes
    }
}
