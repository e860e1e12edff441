import SnapshotTable

extension CustomerTable {
    /// Reads in a batch of its own.
    func read(_ scope: UInt16, _ name: String, _ reader: ReaderSlot) -> [UInt8]? {
        beginReading(reader)
        defer { endReading(reader) }
        return readInBatch(scope, name, reader) { bytes($0) }
    }

    /// Reads in a batch that is open.
    func readInBatch<Result>(
        _ scope: UInt16, _ name: String, _ reader: ReaderSlot, _ body: (Span<UInt8>) -> Result
    ) -> Result? {
        let name = Array(name.utf8)
        var result: Result?
        _ = withSnapshot(scope: scope, name: name.span, reader: reader) { result = body($0) }
        return result
    }

    /// Reads `customer-N` in a batch that is open; empty without him.
    func readInBatch(_ scope: UInt16, _ customer: Int, _ reader: ReaderSlot) -> [UInt8] {
        readInBatch(scope, "customer-\(customer)", reader) { bytes($0) } ?? []
    }

    /// Offers what was read at `readAt`, or now.
    func offer(
        _ scope: UInt16, _ name: String, _ snapshot: [UInt8], readAt: UInt64? = nil,
        evicting: Bool = true
    ) -> Offer {
        offer(
            scope: scope, name: Array(name.utf8).span, snapshot: snapshot.span,
            readAt: readAt ?? changeCount, evicting: evicting)
    }
}
