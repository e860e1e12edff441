internal import EventLoop
internal import RocksDB
internal import ToolSupport

/// Gets from a bare RocksDB, in this process and on one thread: what a server that asked RocksDB
/// for every check could not go beyond.
///
/// The database has the options of the server's own store. Everything is in its block cache.
struct StoreLoop: Sendable {
    private static let family = ColumnFamily(index: 0)
    private static let batchCount = 1_000
    /// About what the server keeps of a customer with two transactions.
    private static let valueByteCount = 48
    /// Between two looks at the clock: 0.4 ms of gets at 6 us each.
    private static let stepCount = 64

    private let database: Database
    private let plan: SeedPlan
    private let processors: [Int]

    /// Fills a database in a directory, which must be there and empty: the names of the population,
    /// each with 48 bytes, written into tables and compacted.
    ///
    /// - Throws: `CommandFailure` when RocksDB refuses.
    init(
        _ plan: SeedPlan, directory: String, processors: [Int]
    ) throws(CommandFailure) {
        self.plan = plan
        self.processors = processors
        var options = DatabaseOptions()
        options.createsIfMissing = true
        // Names and values of 88 bytes, and what a block adds to them.
        options.cacheByteCount = max(256 << 20, plan.customerCount * 160)
        do throws(RocksDBError) {
            database = try Database(
                directory: directory + "/store-loop", mode: .readWrite, options: options,
                families: [("default", FamilyOptions())])
            try Self.fill(database, plan)
        } catch {
            throw CommandFailure(.failed, "the bare RocksDB: \(error)")
        }
    }

    private static func fill(_ database: Database, _ plan: SeedPlan) throws(RocksDBError) {
        for start in stride(from: 0, to: plan.customerCount, by: batchCount) {
            var batch = WriteBatch()
            for index in start..<min(start + batchCount, plan.customerCount) {
                let value = (0..<valueByteCount).map { UInt8(truncatingIfNeeded: index &* $0) }
                batch.put(value, for: Array(plan.name(of: index).utf8), in: family, of: database)
            }
            try database.write(batch, synced: false)
        }
        try database.flush(family)
        database.compact(family)
    }

    /// Gets values of random customers for so long, on a thread of its own.
    ///
    /// - Returns: gets per second.
    /// - Throws: `CommandFailure` when a value is missing or cannot be read.
    func getsPerSecond(for seconds: Double) throws(CommandFailure) -> Double {
        let result = Locked<Result<Double, CommandFailure>>(.success(0))
        do throws(UVError) {
            let thread = try Thread(name: "store-loop") { [self] in
                let outcome: Result<Double, CommandFailure>
                do throws(CommandFailure) {
                    outcome = .success(try measure(for: seconds))
                } catch {
                    outcome = .failure(error)
                }
                result.withLock { $0 = outcome }
            }
            thread.join()
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
        return try result.withLock { $0 }.get()
    }

    private func measure(for seconds: Double) throws(CommandFailure) -> Double {
        if !processors.isEmpty { try Processors.pin(processors) }
        let clock = ContinuousClock()
        // Names are made before: what is measured is the get.
        let names = (0..<min(plan.customerCount, 1 << 16)).map { index in
            let customer = plan.random(UInt64(index), salt: 9) % UInt64(plan.customerCount)
            return Array(plan.name(of: Int(customer)).utf8)
        }
        let start = clock.now
        var count = 0
        while true {
            for _ in 0..<Self.stepCount {
                try get(names[count % names.count])
                count += 1
            }
            let elapsed = (clock.now - start).seconds
            if elapsed >= seconds { return Double(count) / elapsed }
        }
    }

    private func get(_ name: [UInt8]) throws(CommandFailure) {
        let byteCount: Int?
        do throws(RocksDBError) {
            if let value = try database.value(for: name, in: Self.family) {
                byteCount = value.bytes.count
            } else {
                byteCount = nil
            }
        } catch {
            throw CommandFailure(.failed, "the bare RocksDB: \(error)")
        }
        guard byteCount == Self.valueByteCount else {
            throw CommandFailure(.failed, "the bare RocksDB has not got one of its customers")
        }
    }
}

extension Duration {
    /// Seconds with their fraction.
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
