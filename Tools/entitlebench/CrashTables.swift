/// What is seen of a store's tables at each kill: enough to tell that it flushed and merged between
/// them.
struct CrashTables: Hashable, Sendable {
    /// Tables that were seen whole, by name; names are never used again.
    private(set) var seen: Set<String> = []
    /// Those of them that were gone at a later kill: merged into others.
    private(set) var merged: Set<String> = []
    /// Kills at which an unfinished table lay there: one that was being written, or that a full
    /// disk had cut short before and no start has removed yet.
    private(set) var unfinishedCount = 0

    /// The last eight bytes of every whole table of RocksDB's.
    private static let end: [UInt8] = [0xF7, 0xCF, 0xF4, 0x85, 0xB7, 0x41, 0xE2, 0x88]

    /// Looks at the tables in `directory`, which no server uses now.
    mutating func look(at directory: String) {
        let names = CrashFiles.names(in: directory).filter { $0.hasSuffix(".sst") }
        let fresh = names.filter { !seen.contains($0) }
        let whole = fresh.filter {
            (try? CrashFiles.read(directory + "/" + $0))?.suffix(Self.end.count)
                .elementsEqual(Self.end) ?? false
        }
        if whole.count < fresh.count { unfinishedCount += 1 }
        merged.formUnion(seen.subtracting(names))
        seen.formUnion(whole)
    }

    /// A sentence for people.
    var sentence: String {
        "\(seen.count) tables were seen, \(merged.count) of them merged later;"
            + " at \(unfinishedCount) kills an unfinished one lay there"
    }
}
