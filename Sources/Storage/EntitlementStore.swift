/// A family of records with one kind of key; `RocksDBStorage` gives each a column family.
///
/// The byte layout of every key stands in `Keyspace.swift`.
package enum Keyspace: String, CaseIterable, Sendable {
    /// Format version, revision, the numbers given to scopes and customers.
    case meta
    /// Which customer an identity of Apple's or of the app belongs to.
    case identities
    /// One record per customer: names, household, counts.
    case customers
    /// Which customers share a household.
    case households
    /// The decoded newest copy of every transaction, with its evidence, by customer.
    case transactions
    /// The decoded newest renewal info of every chain, by customer.
    case renewals
    /// What Apple sent, as it came; the payloads inside a notification are stored with it only.
    case payloads
    /// What CheckAccess reads: one snapshot per customer.
    case snapshots
    /// The index of notifications by UUID, and those that concern nobody.
    case notifications
    /// The revisions that touched a customer: notifications with their dispositions, and audit
    /// entries.
    case history
    /// What was said and changed by people and conflicts: links, transfers, households.
    case audit
    /// Who is to be fetched from Apple and who was, by customer.
    case refreshes
    /// The transactions that may be copies of one family's purchase, by what they have in common.
    case matches
    /// What was granted on each transaction, day by day.
    case usage
    /// The revoked transactions in the order of their revocation: the bill.
    case refunds
}

/// What can go wrong with a store.
package enum StorageError: Error, Equatable, Sendable {
    /// The directory cannot be made or opened; nothing was touched.
    case cannotOpen(directory: String, message: String)
    /// Another process holds the directory.
    case locked(directory: String, message: String)
    /// The process may not read or write there.
    case noPermission(directory: String, message: String)
    /// A newer release wrote the data.
    case newerFormat(directory: String, found: UInt64, supported: UInt64)
    /// The directory holds something that is not a store of this program.
    case foreignDirectory(directory: String, message: String)
    /// A file or record is damaged; the message names it.
    case damaged(message: String)
    /// A record does not decode.
    case corruptRecord(keyspace: Keyspace, message: String)
    /// The store cannot take writes now (disk full, failing disk); reads may go on.
    case unavailable(message: String)
}

/// Puts and deletes that become visible and durable together.
package struct ChangeSet: Sendable {
    /// One change; the last one to a key wins.
    package enum Change: Sendable, Equatable {
        case put([UInt8])
        case delete
    }

    /// The changes by keyspace and key.
    package private(set) var changes: [Keyspace: [[UInt8]: Change]] = [:]

    /// An empty set.
    package init() {}

    /// Whether nothing would change.
    package var isEmpty: Bool { changes.isEmpty }

    /// Writes `value` under `key`.
    package mutating func put(_ value: [UInt8], for key: [UInt8], in keyspace: Keyspace) {
        changes[keyspace, default: [:]][key] = .put(value)
    }

    /// Removes `key`; a missing key is no error.
    package mutating func delete(_ key: [UInt8], in keyspace: Keyspace) {
        changes[keyspace, default: [:]][key] = .delete
    }

    /// The change to one key, if any.
    package func change(for key: [UInt8], in keyspace: Keyspace) -> Change? {
        changes[keyspace]?[key]
    }

    /// The same changes with other values in one keyspace; deletes stay.
    func replacingValues(in keyspace: Keyspace, with value: ([UInt8]) -> [UInt8]) -> ChangeSet {
        var result = self
        result.changes[keyspace] = changes[keyspace]?.mapValues { change in
            if case .put(let bytes) = change { .put(value(bytes)) } else { change }
        }
        return result
    }

    /// Adds `later` on top; its changes win.
    package mutating func merge(_ later: ChangeSet) {
        for (keyspace, records) in later.changes {
            changes[keyspace, default: [:]].merge(records) { _, new in new }
        }
    }
}

/// Reads of an ordered byte-string store; safe from any thread.
package protocol EntitlementReader: ~Copyable {
    /// The value under `key`, or nil.
    ///
    /// - Throws: `StorageError.damaged`, `.unavailable`.
    borrowing func value(for key: [UInt8], in keyspace: Keyspace) throws(StorageError) -> [UInt8]?

    /// Calls `body` for each record whose key starts with `prefix`, in ascending byte order (or
    /// descending, when `reversed`), until it returns false. The scan sees one consistent state.
    ///
    /// `start` says where to begin within the prefix: at the first key at or after it, or, when
    /// `reversed`, at the first at or before it.
    ///
    /// - Throws: `StorageError.damaged`, `.unavailable`.
    borrowing func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError)

    /// Calls `body` with the value under `key` where it lies, and returns what it returns; nil
    /// without a value. The bytes are good during the call only; keep it short.
    ///
    /// - Throws: `StorageError.damaged`, `.unavailable`.
    borrowing func withValue<Result>(
        for key: [UInt8], in keyspace: Keyspace, _ body: (Span<UInt8>) -> Result
    ) throws(StorageError) -> Result?

    /// The same as an ascending `scan`, for walks over much: the records are given where they lie,
    /// and displace nothing that single reads want.
    ///
    /// - Throws: `StorageError.damaged`, `.unavailable`.
    borrowing func walk(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Bool
    ) throws(StorageError)
}

extension EntitlementReader where Self: ~Copyable {
    /// A copy will do.
    package borrowing func withValue<Result>(
        for key: [UInt8], in keyspace: Keyspace, _ body: (Span<UInt8>) -> Result
    ) throws(StorageError) -> Result? {
        guard let value = try value(for: key, in: keyspace) else { return nil }
        return body(value.span)
    }

    /// The same as `scan` for a `body` that decodes: what it throws ends the scan, and is thrown.
    package borrowing func scanDecoding(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]? = nil, reversed: Bool = false,
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws(StorageError) -> Bool
    ) throws(StorageError) {
        var failure: StorageError?
        try scan(keyspace, prefix: prefix, from: start, reversed: reversed) { key, value in
            do throws(StorageError) {
                return try body(key, value)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Copies will do.
    package borrowing func walk(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Bool
    ) throws(StorageError) {
        try scan(keyspace, prefix: prefix, from: start, reversed: false) { key, value in
            body(key.span, value.span)
        }
    }
}

/// A store that takes changes.
package protocol EntitlementWriter: EntitlementReader & ~Copyable {
    /// Applies all of `changes` or nothing; when it returns they are durable and visible.
    ///
    /// - Throws: `StorageError.unavailable` when the store cannot write now; nothing changed then.
    borrowing func commit(_ changes: ChangeSet) throws(StorageError)

    /// Removes from the disk, and not just from view, what was replaced or removed under `ranges`
    /// before the call; when it returns no file of the store holds it. Reads and commits go on.
    ///
    /// A store that keeps nothing beside its records need not do anything. It may take minutes:
    /// never on a thread that others wait for.
    ///
    /// - Parameter ranges: Of keys.
    /// - Throws: `StorageError.unavailable`, `.damaged`; call it again then.
    borrowing func erase(_ ranges: [KeyRange]) throws(StorageError)
}

extension EntitlementWriter where Self: ~Copyable {
    /// Nothing is kept beside the records.
    package borrowing func erase(_ ranges: [KeyRange]) throws(StorageError) {}
}
