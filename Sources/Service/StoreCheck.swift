import Entitlements
package import Storage

/// A record that is not what it should be, or is missing.
package struct StoreFinding: Hashable, Sendable {
    package var keyspace: Keyspace
    /// Empty where a whole keyspace, or a damaged file, is meant.
    package var key: [UInt8]
    package var expected: String
    package var found: String
}

/// Reads every record of a store that nobody changes meanwhile, decodes it, and compares what
/// follows from others with what is stored: snapshots byte by byte with the fold of the facts, as
/// a rebuild makes them; facts with the signed copies behind them, whose signatures are checked
/// again; each index with what it leads to, both ways.
///
/// What nothing else says can only be decoded: counts of use, the words of audit entries, when
/// Apple was last asked. There a lost record, or one that is another valid one, is not seen; a
/// changed byte on the disk is, by RocksDB's checksums.
package final class StoreCheck<Store: EntitlementWriter & Sendable> {
    /// The records as they lie.
    let raw: Store
    /// The same with payloads unpacked.
    let store: PackingStore<Store>
    let limits: LongHistoryLimits
    private let onFinding: (StoreFinding) -> Void
    private let onProgress: (Int) -> Void

    var scopes: [ScopeNumber: Scope] = [:]
    var revision: UInt64 = 0
    var customerCount: UInt64 = 0
    var transactionCount: UInt64 = 0
    /// How many customers were forgotten, and are nobody else's by now.
    var forgottenCount: UInt64 = 0
    /// The greatest number of a customer.
    var lastCustomer: UInt64 = 0
    /// How many records of each keyspace were read.
    package private(set) var recordCounts: [Keyspace: Int] = [:]
    /// How many findings were told.
    package private(set) var findingCount = 0

    /// A check.
    ///
    /// - Parameters:
    ///   - store: Of the format that this release writes; nobody changes it.
    ///   - limits: From when on a history counts as long, as the server has it.
    ///   - onFinding: Told of each record that is not what it should be.
    ///   - onProgress: Told now and then how many records were read.
    /// - Throws: what the store throws for the headers of payloads.
    package init(
        _ store: Store, limits: LongHistoryLimits = LongHistoryLimits(),
        onFinding: @escaping (StoreFinding) -> Void, onProgress: @escaping (Int) -> Void = { _ in }
    ) throws(StorageError) {
        raw = store
        self.store = try PackingStore(store)
        self.limits = limits
        self.onFinding = onFinding
        self.onProgress = onProgress
    }

    /// The last revision that the store has.
    package var storedRevision: UInt64 { revision }

    /// Reads everything.
    package func run() {
        checkMeta()
        checkCustomers()
        checkIdentities()
        checkHouseholds()
        checkTransactions()
        checkRenewals()
        checkPayloads()
        checkSnapshotNames()
        checkNotifications()
        checkHistory()
        checkAudit()
        checkRefreshes()
        checkMatches()
        checkUsage()
        checkRefunds()
        checkCounters()
        onProgress(recordCounts.values.reduce(0, +))
    }

    // MARK: What the parts share

    func report(_ keyspace: Keyspace, _ key: [UInt8], expected: String, found: String) {
        findingCount += 1
        onFinding(StoreFinding(keyspace: keyspace, key: key, expected: expected, found: found))
    }

    /// Calls `body` with each record of a keyspace; of payloads as they are packed.
    func each(_ keyspace: Keyspace, _ body: ([UInt8], [UInt8]) -> Void) {
        var count = 0
        do throws(StorageError) {
            try raw.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                body(key, value)
                count += 1
                if count.isMultiple(of: 1_024) {
                    onProgress(recordCounts.values.reduce(count, +))
                }
                return true
            }
        } catch {
            report(keyspace, [], expected: "records that can be read", found: "\(error)")
        }
        recordCounts[keyspace] = count
    }

    /// The value under a key, unpacked; nil without one, and where it cannot be read, which is
    /// told.
    func value(_ key: [UInt8], in keyspace: Keyspace) -> [UInt8]? {
        do throws(StorageError) {
            return try store.value(for: key, in: keyspace)
        } catch {
            report(keyspace, key, expected: "a record that can be read", found: "\(error)")
            return nil
        }
    }

    /// What a record says; nil where it does not decode, which is told.
    func decoded<Value>(
        _ keyspace: Keyspace, _ key: [UInt8], _ body: () throws(StorageError) -> Value
    ) -> Value? {
        do throws(StorageError) {
            return try body()
        } catch {
            report(keyspace, key, expected: "a record that decodes", found: "\(error)")
            return nil
        }
    }

    /// The record of a customer; nil without one, and where it does not decode: that is told once,
    /// by `checkCustomers`.
    func record(of number: UInt64, in scope: ScopeNumber) -> CustomerRecord? {
        let key = Key.customer(CustomerKey(scope: scope, number: number))
        guard let bytes = (try? raw.value(for: key, in: .customers)) ?? nil else { return nil }
        return try? RecordCodec.decodeCustomer(bytes)
    }

    /// The record of an identity, likewise.
    func record(of identity: Identity, in scope: ScopeNumber) -> IdentityRecord? {
        let key = Key.identity(identity, in: scope)
        guard let bytes = (try? raw.value(for: key, in: .identities)) ?? nil else { return nil }
        return try? RecordCodec.decodeIdentity(bytes)
    }

    /// The world that a key begins with; nil where it is none that was numbered, which is told.
    func scope(of key: [UInt8], in keyspace: Keyspace, byteCountMin: Int) -> ScopeNumber? {
        guard key.count >= byteCountMin else {
            report(
                keyspace, key, expected: "a key of at least \(byteCountMin) bytes",
                found: "\(key.count) bytes")
            return nil
        }
        let scope = ScopeNumber(UInt16(key[0]) << 8 | UInt16(key[1]))
        guard scopes[scope] != nil else {
            report(
                keyspace, key, expected: "a numbered app and environment",
                found: "number \(scope.value)")
            return nil
        }
        return scope
    }

    /// The customer whose number stands behind the scope; nil where there is none who stands for
    /// himself, which is told.
    func customer(of key: [UInt8], in keyspace: Keyspace) -> CustomerKey? {
        guard let scope = scope(of: key, in: keyspace, byteCountMin: Key.customerByteCount) else {
            return nil
        }
        return standing(
            Self.number(key[2..<Key.customerByteCount]), in: scope, keyspace, key)
    }

    /// The customer of a number who was not merged into another; nil where there is none, which is
    /// told.
    func standing(
        _ number: UInt64, in scope: ScopeNumber, _ keyspace: Keyspace, _ key: [UInt8]
    ) -> CustomerKey? {
        guard let record = record(of: number, in: scope) else {
            report(keyspace, key, expected: "customer \(number)", found: "no record of him")
            return nil
        }
        guard record.mergedInto == 0 else {
            report(
                keyspace, key, expected: "a customer who stands for himself",
                found: "customer \(number), merged into \(record.mergedInto)")
            return nil
        }
        return CustomerKey(scope: scope, number: number)
    }

    /// The text that a key ends in; nil where it is none, which is told.
    func text(of key: [UInt8], from offset: Int, in keyspace: Keyspace) -> String? {
        guard let text = String(validating: key.dropFirst(offset), as: UTF8.self), !text.isEmpty
        else {
            report(
                keyspace, key, expected: "a key that ends in a name", found: "\(key.count) bytes")
            return nil
        }
        return text
    }

    /// Whether a revision is one that was committed; if not, that is told.
    func checkRevision(_ found: UInt64, _ keyspace: Keyspace, _ key: [UInt8]) {
        guard found == 0 || found > revision else { return }
        report(
            keyspace, key, expected: "a revision of 1 to \(revision)", found: "revision \(found)")
    }

    static func number(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
