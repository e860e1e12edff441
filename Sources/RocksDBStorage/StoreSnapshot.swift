internal import RocksDB
package import Storage

/// A reader of one consistent state of a store on disk. Safe from any thread, good until the call
/// that made it returns; later reads throw `.unavailable`.
package final class StoreSnapshot: EntitlementReader, Sendable {
    private enum State: Sendable {
        case open(Snapshot)
        case over(reason: String)
    }

    private let state: ReaderWriterLock<State>
    private let failure: @Sendable (RocksDBError) -> StorageError

    /// - Parameters:
    ///   - database: Whose state it is.
    ///   - onFailure: Gives the error to throw for a read that failed.
    init(of database: Database, onFailure: @escaping @Sendable (RocksDBError) -> StorageError) {
        state = ReaderWriterLock(.open(Snapshot(of: database)))
        failure = onFailure
    }

    /// A snapshot of a store that cannot be read.
    init(closed reason: String) {
        state = ReaderWriterLock(.over(reason: reason))
        failure = { StorageError(reading: $0) }
    }

    /// The value that stood under `key`, or nil.
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        try reading { (snapshot) throws(RocksDBError) in
            try snapshot.value(for: key, in: StoreOpening.family(of: keyspace))?.copy()
        }
    }

    /// Calls `body` on the records as they stood.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        try reading { (snapshot) throws(RocksDBError) in
            try RangeIterator.scan(
                snapshot.database, keyspace, prefix: prefix, from: start, reversed: reversed,
                at: snapshot, body)
        }
    }

    /// Lets go of the state. Waits for reads that are under way on other threads.
    func end() {
        let isOver: Void? = state.withWriting(within: RocksDBStore.readersSecondsMax) {
            $0 = .over(reason: "the snapshot is over")
        }
        precondition(isOver != nil, "a snapshot is read after the call that made it")
    }

    private func reading<Result>(
        _ body: (Snapshot) throws(RocksDBError) -> Result
    ) throws(StorageError) -> Result {
        try state.withReading { (state) throws(StorageError) in
            switch state {
            case .open(let snapshot):
                do throws(RocksDBError) {
                    return try body(snapshot)
                } catch { throw failure(error) }
            case .over(let reason): throw .unavailable(message: reason)
            }
        }
    }
}

// MARK: - Scanning

extension RangeIterator {
    /// Calls `body` for the records of a keyspace as `EntitlementReader.scan` promises.
    static func scan(
        _ database: Database, _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        reversed: Bool, at snapshot: Snapshot? = nil, _ body: ([UInt8], [UInt8]) -> Bool
    ) throws(RocksDBError) {
        // A scan of everything must not push out of the cache what single reads want.
        var iterator = RangeIterator(
            database, family: StoreOpening.family(of: keyspace), from: prefix,
            upTo: end(of: prefix), at: snapshot, fillsCache: !prefix.isEmpty,
            isFiltered: !reversed && keyspace == .matches
                && prefix.count >= Key.matchDatesByteCount)
        guard iterator.seek(start, prefix: prefix, reversed: reversed) else { return }
        while iterator.isValid, body(iterator.key, iterator.value) {
            if reversed { iterator.previous() } else { iterator.next() }
        }
        try iterator.checkStatus()
    }

    /// Calls `body` for the records of a keyspace as `EntitlementReader.walk` promises.
    static func walk(
        _ database: Database, _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (Span<UInt8>, Span<UInt8>) -> Bool
    ) throws(RocksDBError) {
        var iterator = RangeIterator(
            database, family: StoreOpening.family(of: keyspace), from: prefix,
            upTo: end(of: prefix), fillsCache: false)
        guard iterator.seek(start, prefix: prefix, reversed: false) else { return }
        while iterator.isValid, iterator.withRecord(body) { iterator.next() }
        try iterator.checkStatus()
    }

    /// The first key after all that start with `prefix`; nil when there is none.
    private static func end(of prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 < 0xFF }) else { return nil }
        var end = Array(prefix[...last])
        end[last] += 1
        return end
    }

    /// Moves to where a scan begins, which may be nowhere; false when no key can be in it.
    private mutating func seek(_ start: [UInt8]?, prefix: [UInt8], reversed: Bool) -> Bool {
        guard let start else {
            if reversed { seekToLast() } else { seekToFirst() }
            return true
        }
        if start.lexicographicallyPrecedes(prefix) {
            if !reversed { seekToFirst() }
            return !reversed
        }
        guard reversed else {
            seek(to: start)
            return true
        }
        // A start behind the prefix means all of it.
        if !start.starts(with: prefix) { seekToLast() } else { seek(toLastUpTo: start) }
        return true
    }
}
