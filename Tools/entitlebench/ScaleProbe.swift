internal import Entitlements
internal import LoadGenerator
internal import RocksDB
internal import RocksDBStorage
internal import Storage
internal import ToolSupport

/// What is measured of a store and of a process from outside.
enum ScaleProbe {
    /// What a bare read of one snapshot takes, customers drawn at random, on the calling thread,
    /// with the server's own options and cache; the first half of the time warms up.
    ///
    /// - Throws: `CommandFailure` when the store cannot be read, or a snapshot is missing.
    static func nanoseconds(
        _ plan: SeedPlan, directory: String, seconds: Double
    ) throws(CommandFailure) -> Double {
        do throws(StorageError) {
            let probe = try StoreProbe(directory: directory)
            var random = RandomSource(seed: plan.seed)
            _ = try read(plan, probe, &random, seconds: seconds / 2)
            return try read(plan, probe, &random, seconds: seconds / 2)
        } catch {
            throw CommandFailure(.failed, "\(directory): it cannot be read: \(error)")
        }
    }

    private static func read(
        _ plan: SeedPlan, _ probe: StoreProbe, _ random: inout RandomSource, seconds: Double
    ) throws(StorageError) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        while true {
            for _ in 0..<256 {
                let index = Int(random.below(UInt64(plan.customerCount)))
                let key = Key.snapshot(
                    of: CustomerKey(scope: ScopeNumber(1), number: UInt64(index) + 1),
                    named: plan.name(of: index))
                guard let byteCount = try probe.byteCount(of: key, in: .snapshots), byteCount > 0
                else {
                    throw .damaged(message: "customer \(index) has no snapshot")
                }
            }
            count += 256
            let elapsed = (clock.now - start).nanoseconds
            if Double(elapsed) >= seconds * 1e9 { return Double(elapsed) / Double(count) }
        }
    }

    /// Bytes of all files under a directory; of those that vanish meanwhile none.
    static func byteCount(of directory: String) -> UInt64 {
        let names = (try? Files.names(in: directory)) ?? []
        return names.reduce(0) { sum, name in
            let path = directory + "/" + name
            switch try? Files.entry(at: path) {
            case .directory: return sum + byteCount(of: path)
            case .other: return sum + ((try? Files.byteCount(of: path)) ?? 0)
            case nil: return sum
            }
        }
    }

    /// Memory that a process has in use, in bytes; 0 where the system does not tell.
    static func residentByteCount(of process: Int32) -> UInt64 {
        guard let bytes = try? SystemCalls.readFile("/proc/\(process)/status") else { return 0 }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(separator: " ").compactMap { UInt64($0) }.first
        return (kilobytes ?? 0) << 10
    }

    /// How long the server says that it took to read all verdicts into memory, in milliseconds; nil
    /// while it has not said so.
    static func warmMilliseconds(in log: String) -> Int64? {
        guard let bytes = try? SystemCalls.readFile(log) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard line.contains("warm"), line.contains("customers") else { continue }
            guard let place = line.firstRange(of: "duration_ms") else { continue }
            let digits = line[place.upperBound...].drop { !$0.isNumber }.prefix { $0.isNumber }
            if let value = Int64(digits) { return value }
        }
        return nil
    }
}
