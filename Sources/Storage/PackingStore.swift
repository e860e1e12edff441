internal import Bytes
internal import Synchronization

/// A store that keeps signed payloads packed, see `PackedPayload`, and shows them as they came.
///
/// Everything else passes through. The headers lie in `meta`, each written in the batch of the
/// first payload that names it, and are all in memory: at most 1,024. Safe from any thread.
package final class PackingStore<Base: EntitlementWriter & Sendable>: EntitlementWriter, Sendable {
    private struct State: ~Copyable, Sendable {
        var headers = PayloadHeaders()
        /// How many of them are in the store; the rest goes with the next batch.
        var storedCount = 0
    }

    private let base: Base
    private let state: Mutex<State>

    /// A packing store over `base`.
    ///
    /// - Parameter base: May hold payloads that are not packed.
    /// - Throws: what `base` throws; `.corruptRecord` when a header is missing.
    package init(_ base: Base) throws(StorageError) {
        self.base = base
        var headers = PayloadHeaders()
        var isWhole = true
        try base.scan(.meta, prefix: Key.payloadHeaders, from: nil, reversed: false) { key, value in
            isWhole = isWhole && key == Key.payloadHeader(headers.count)
            headers.append(value)
            return isWhole
        }
        guard isWhole else {
            throw .corruptRecord(
                keyspace: .meta,
                message: "header \(headers.count - 1) of signed payloads is missing; "
                    + "restore a backup")
        }
        let count = headers.count
        state = Mutex(State(headers: headers, storedCount: count))
    }

    /// The value under `key`, or nil.
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        let value = try base.value(for: key, in: keyspace)
        guard keyspace == .payloads, let value else { return value }
        return try unpacked(value)
    }

    /// Calls `body` with the value under `key`: where it lies, unless it has to be unpacked.
    package func withValue<Result>(
        for key: [UInt8], in keyspace: Keyspace, _ body: (Span<UInt8>) -> Result
    ) throws(StorageError) -> Result? {
        guard keyspace == .payloads else {
            return try base.withValue(for: key, in: keyspace, body)
        }
        guard let value = try value(for: key, in: keyspace) else { return nil }
        return body(value.span)
    }

    /// Walks over the records where they lie, unless they have to be unpacked.
    package func walk(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Bool
    ) throws(StorageError) {
        guard keyspace == .payloads else {
            return try base.walk(keyspace, prefix: prefix, from: start, body)
        }
        try scan(keyspace, prefix: prefix, from: start, reversed: false) { key, value in
            body(key.span, value.span)
        }
    }

    /// Calls `body` on the records of one consistent state.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        guard keyspace == .payloads else {
            return try base.scan(
                keyspace, prefix: prefix, from: start, reversed: reversed, body)
        }
        try base.scanDecoding(keyspace, prefix: prefix, from: start, reversed: reversed) {
            (key, value) throws(StorageError) in
            body(key, try unpacked(value))
        }
    }

    /// Applies all of `changes` or nothing; when it returns they are durable and visible.
    package func commit(_ changes: ChangeSet) throws(StorageError) {
        guard changes.changes[.payloads] != nil else { return try base.commit(changes) }
        var packed = changes
        let count = state.withLock { state in
            packed = changes.replacingValues(in: .payloads) { payload in
                PackedPayload.pack(payload, &state.headers)
            }
            for number in state.storedCount..<state.headers.count {
                guard let text = state.headers.text(of: number) else { continue }
                packed.put(text, for: Key.payloadHeader(number), in: .meta)
            }
            return state.headers.count
        }
        try base.commit(packed)
        state.withLock { $0.storedCount = max($0.storedCount, count) }
    }

    /// Removes from the disk what was replaced or removed under `ranges`.
    package func erase(_ ranges: [KeyRange]) throws(StorageError) { try base.erase(ranges) }

    private func unpacked(_ value: [UInt8]) throws(StorageError) -> [UInt8] {
        let result = state.withLock { state in
            Result { () throws(ByteError) in try PackedPayload.unpack(value, state.headers) }
        }
        do throws(ByteError) {
            return try result.get()
        } catch {
            throw .corruptRecord(
                keyspace: .payloads,
                message: "a payload of \(value.count) bytes does not unpack (\(error)); "
                    + "restore a backup")
        }
    }
}
