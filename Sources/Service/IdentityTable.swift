import Entitlements
import Storage

/// The records of identities that a group of events has looked at, with what it has changed.
///
/// An event asks for each of its three or four identities about eight times. So those that were
/// asked for last are compared first: it takes a tenth of what hashing a text does.
struct IdentityTable: Sendable {
    /// A name within its world.
    struct ScopedIdentity: Hashable, Sendable {
        let scope: ScopeNumber
        let identity: Identity
    }

    private struct Entry: Sendable {
        let scoped: ScopedIdentity
        var record: IdentityRecord
        /// Whether it is another one than in the store.
        var isChanged = false
    }

    private static let recentCountMax = 8

    private var entries: [Entry] = []
    private var places: [ScopedIdentity: Int] = [:]
    /// The places of those that were asked for last; a ring.
    private var recent: [Int] = []
    private var nextRecent = 0

    /// None.
    init() {}

    /// The record of an identity; nil when nobody has asked for it.
    mutating func record(of identity: Identity, in scope: ScopeNumber) -> IdentityRecord? {
        place(of: identity, in: scope).map { entries[$0].record }
    }

    /// Keeps a record as the store has it; of an identity that is not here yet.
    mutating func load(_ record: IdentityRecord, of identity: Identity, in scope: ScopeNumber) {
        let scoped = ScopedIdentity(scope: scope, identity: identity)
        places[scoped] = entries.count
        note(entries.count)
        entries.append(Entry(scoped: scoped, record: record))
    }

    /// Changes a record; whether it is another one now.
    mutating func set(
        _ record: IdentityRecord, of identity: Identity, in scope: ScopeNumber
    ) -> Bool {
        guard let place = place(of: identity, in: scope) else {
            load(record, of: identity, in: scope)
            entries[entries.count - 1].isChanged = true
            return true
        }
        guard entries[place].record != record else { return false }
        entries[place].record = record
        entries[place].isChanged = true
        return true
    }

    /// The tokens and accounts among them that lead to one of these customers of a world.
    func names(of numbers: Set<UInt64>, in scope: ScopeNumber) -> Set<Identity> {
        var names: Set<Identity> = []
        for entry in entries where entry.scoped.scope == scope && entry.record.mentions(numbers) {
            switch entry.scoped.identity.kind {
            case .appAccountToken, .appTransaction: names.insert(entry.scoped.identity)
            case .customer, .originalTransaction, .transaction: continue
            }
        }
        return names
    }

    /// Adds what is to be written.
    func write(into changes: inout ChangeSet) {
        for entry in entries where entry.isChanged {
            let key = Key.identity(entry.scoped.identity, in: entry.scoped.scope)
            if entry.record == IdentityRecord() {
                changes.delete(key, in: .identities)
            } else {
                changes.put(RecordCodec.encode(entry.record), for: key, in: .identities)
            }
        }
    }

    private mutating func place(of identity: Identity, in scope: ScopeNumber) -> Int? {
        for place in recent where entries[place].scoped.identity == identity {
            if entries[place].scoped.scope == scope { return place }
        }
        guard let place = places[ScopedIdentity(scope: scope, identity: identity)] else {
            return nil
        }
        note(place)
        return place
    }

    private mutating func note(_ place: Int) {
        if recent.count < Self.recentCountMax {
            recent.append(place)
        } else {
            recent[nextRecent] = place
            nextRecent = (nextRecent + 1) % Self.recentCountMax
        }
    }
}
