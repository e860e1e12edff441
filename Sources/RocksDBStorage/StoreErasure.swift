internal import RocksDB
package import Storage

// RocksDB keeps what was replaced or removed until the files with it are written anew:
//
//   the log        goes when every family has moved what it holds into tables
//   tables         lose it when they are compacted down to the oldest of them; a deletion has the
//                  key in it, and is dropped only where a table of the lowest level is written
//                  anew: it may have come there by being moved
//   the manifest   names the first and last key of tables; each change of tables begins a new one,
//                  which still begins with the tables before that change
//
// Files that are not used any more are removed a moment later, or when the scan ends that reads
// them.

extension RocksDBStore {
    /// How long the removal of files is waited for.
    private static let patienceMilliseconds = 30_000
    /// How often tables that stay are compacted again.
    private static let renewalCountMax = 3

    /// Removes from the disk what was replaced or removed under `ranges` before the call.
    ///
    /// Only tables with keys between the ends of a range are written anew, and what is above them
    /// in their family: some 256 MB at most.
    ///
    /// - Throws: `.unavailable`, also while the store takes no writes, and where a scan that is
    ///   under way holds files for long; `.damaged`.
    package func erase(_ ranges: [KeyRange]) throws(StorageError) {
        let logs = try fileNames().filter { $0.hasSuffix(".log") }
        try flushAll()
        let former = try tables(in: ranges)
        for range in ranges {
            try withWritableDatabase { (database) throws(RocksDBError) in
                database.compact(range, isForced: false)
            }
        }
        try renewTables(in: ranges, former: Set(former.map(\.name)))
        // The last manifest begins with tables that are gone: one table more begins the next.
        var nothing = ChangeSet()
        nothing.delete(Key.erasures, in: .meta)
        try commit(nothing)
        try flushAll()
        try waitForRemoval(of: logs)
    }

    /// One family after the other: commits go on between, and the logs that they begin have no part
    /// in it.
    private func flushAll() throws(StorageError) {
        for family in StoreOpening.allFamilies {
            try withWritableDatabase { (database) throws(RocksDBError) in
                try database.flush(family)
            }
        }
    }

    /// Writes anew what is left of the tables that had keys in `ranges` before, and those in which
    /// deletions of such keys may stand.
    private func renewTables(
        in ranges: [KeyRange], former: Set<String>
    ) throws(StorageError) {
        for _ in 0..<Self.renewalCountMax {
            let left = try tables(in: ranges).filter {
                $0.deletionCount > 0 || former.contains($0.name)
            }
            for table in left {
                let inside = ranges.filter { $0.overlaps(table) }
                guard let first = inside.min(by: { isBefore($0.first, $1.first) }),
                    let last = inside.max(by: { isBefore($0.last, $1.last) })
                else { continue }
                let start = isBefore(first.first, table.firstKey) ? table.firstKey : first.first
                let end = isBefore(table.lastKey, last.last) ? table.lastKey : last.last
                try withWritableDatabase { (database) throws(RocksDBError) in
                    database.compact(
                        KeyRange(first.keyspace, from: start, to: end), isForced: true)
                }
            }
            if !left.contains(where: { former.contains($0.name) }) { return }
        }
        guard try !tables(in: ranges).contains(where: { former.contains($0.name) }) else {
            throw .unavailable(message: "tables with what was removed could not be written anew")
        }
    }

    /// The tables that may have a key in one of `ranges`.
    private func tables(in ranges: [KeyRange]) throws(StorageError) -> [LiveTable] {
        var tables: [LiveTable] = []
        try withWritableDatabase { (database) throws(RocksDBError) in
            tables = database.liveTables.filter { table in ranges.contains { $0.overlaps(table) } }
        }
        return tables
    }

    /// Waits until the files are gone that the database does not use any more.
    private func waitForRemoval(of logs: [String]) throws(StorageError) {
        let current = try fileNames().filter { $0.hasSuffix(".log") }.max()
        var stale: Set<String> = Set(logs.filter { $0 != current })
        for round in 0..<Self.patienceMilliseconds {
            let names = try fileNames()
            var live: Set<String> = []
            try withWritableDatabase { (database) throws(RocksDBError) in
                live = Set(database.liveTables.map(\.name))
            }
            if round == 0 {
                let manifest = names.filter { $0.hasPrefix("MANIFEST-") }.max()
                stale.formUnion(names.filter { $0.hasPrefix("MANIFEST-") && $0 != manifest })
                stale.formUnion(names.filter { $0.hasSuffix(".sst") && !live.contains($0) })
            }
            stale.formIntersection(names)
            stale.subtract(live)
            if stale.isEmpty { return }
            Files.pauseOneMillisecond()
        }
        throw .unavailable(
            message: "\(stale.sorted().joined(separator: ", ")) still hold what was removed: a "
                + "scan that is under way reads them")
    }

    private func fileNames() throws(StorageError) -> [String] {
        try onFiles(of: databasePath) { () throws(FileError) in
            try Files.names(in: databasePath)
        }
    }
}

extension KeyRange {
    /// Whether a key of the range may stand in a table.
    fileprivate func overlaps(_ table: LiveTable) -> Bool {
        table.familyName == keyspace.rawValue && !isBefore(last, table.firstKey)
            && !isBefore(table.lastKey, first)
    }
}

extension Database {
    fileprivate func compact(_ range: KeyRange, isForced: Bool) {
        compact(
            StoreOpening.family(of: range.keyspace), from: range.first, to: range.last,
            isForced: isForced)
    }
}
