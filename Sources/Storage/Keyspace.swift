import Bytes
package import Entitlements

// The byte layout of every key, format version 2. All integers are big-endian, so byte order is
// numeric order. A text stands last and unframed, or framed by a two-byte length, or has a fixed
// length: no two different tuples share a key.
//
// (the store's)  "format"                               u64 format version; beside the keyspaces
// meta           "revision"                             u64 last committed revision
//                "next-customer"                        u64 number of the next new customer
//                "counts"                               u64 customers, u64 transactions
//                "next-scope"                           u16 number of the next new scope
//                "forgotten"                            u64 customers who were forgotten
//                "named-snapshots"                      empty: those of named customers are
//                                                       under their names
//                "scope" u8 environment, bundleId       u16 number of the scope
//                "header" u32 number                    a JWS header, see PackedPayload.swift
//                "mark" u16 scope, u8 kind              i64 an instant, see ReconciliationMark
//                "erasure" u16 scope, u64 customer      ranges of keys whose former records may
//                                                       still lie on the disk, see Erasure.swift
// identities     u16 scope, u8 kind, name               IdentityRecord
// customers      u16 scope, u64 customer                CustomerRecord
//                u16 scope, u64 customer, u8 kind, name empty: linked in so many words
//                u16 scope, u64 customer, "h", originalTransactionId   empty: an unsigned body
//                                                       named the chain, of which no fact is known
// households     u16 scope, u16 + household, u64 member empty
// transactions   u16 scope, u64 customer, transactionId TransactionFact
// renewals       u16 scope, u64 customer, originalTransactionId   RenewalInfo
// payloads                                              packed, see PackedPayload.swift
//                u16 scope, "n", u64 revision           notification as received; empty: removed
//                                                       when its customer was forgotten
//                u16 scope, "t", transactionId          JWS of the winning copy, where it came in
//                                                       no notification
//                u16 scope, "r", originalTransactionId  the same of the newest renewal info
// snapshots      u16 scope, u64 customer                snapshot of a customer without a name
//                u16 scope, u8 255, name                snapshot of a named one: a check finds it
//                                                       by one read; see SnapshotLayout
// notifications  u16 scope, "u", notificationUUID       u64 revision
//                u16 scope, "r", u64 revision           NotificationRecord, where it is in nobody's
//                                                       history
// history        u16 scope, u64 customer, u64 revision  NotificationRecord: it concerns the
//                                                       customer; empty: something else of this
//                                                       revision does
// audit          u64 revision, u16 index                AuditRecord
// refreshes      u16 scope, "q", u64 customer           RefreshJob: waits for a fetch from Apple;
//                                                       which are due is kept in memory, and read
//                                                       from here at the start
//                u16 scope, "d", u64 customer           i64 when it was last fetched whole
// matches        u16 scope, u16 65535, i64 purchaseDate, i64 expiresDate (0: none),
//                u16 + productId, u64 customer, transactionId
//                                                       FamilyCandidate: see MatchRecords.swift
// usage          u16 scope, u16 + transactionId, u32 day UsageRecord
// refunds        u16 scope, u64 ended at, u64 customer, transactionId   RefundRecord
//                the instant is an i64 with its sign bit flipped, so that byte order is its order

/// The format version that this release writes; a store of a newer one is refused.
package let storageFormatVersion: UInt64 = 2

/// The number that the store gave a scope; it stands first in nearly every key.
package struct ScopeNumber: Hashable, Sendable {
    /// The number.
    package let value: UInt16
    /// The scope of this number.
    package init(_ value: UInt16) { self.value = value }
}

/// The store's own number of a customer within a scope; names may change hands, this stays.
package struct CustomerKey: Hashable, Sendable {
    /// The world.
    package let scope: ScopeNumber
    /// Counts from 1; 0 is nobody.
    package let number: UInt64

    /// The customer `number` of `scope`.
    package init(scope: ScopeNumber, number: UInt64) {
        self.scope = scope
        self.number = number
    }
}

/// Builds the keys of each keyspace.
package enum Key {
    /// Format version.
    package static let format = Array("format".utf8)
    /// Last committed revision.
    package static let revision = Array("revision".utf8)
    /// Number of the next new customer.
    package static let nextCustomer = Array("next-customer".utf8)
    /// Counts of customers and transactions.
    package static let counts = Array("counts".utf8)
    /// How many customers were ever forgotten; missing while nobody was.
    package static let forgottenCount = Array("forgotten".utf8)
    /// That the snapshots of named customers are under their names.
    package static let namedSnapshots = Array("named-snapshots".utf8)
    /// Number of the next new scope.
    package static let nextScope = Array("next-scope".utf8)

    /// The prefix of the JWS headers that stored payloads name by number, in `meta`.
    package static let payloadHeaders = Array("header".utf8)

    /// A JWS header, in `meta`.
    static func payloadHeader(_ number: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(raw: payloadHeaders)
        writer.append(UInt32(number))
        return writer.bytes
    }

    /// The number of a scope, in `meta`.
    package static func scope(_ scope: Scope) -> [UInt8] {
        Array("scope".utf8) + [scope.environment.rawValue] + Array(scope.bundleID.utf8)
    }

    /// The customer of a name, in `identities`.
    package static func identity(_ identity: Identity, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(scope.value)
        writer.append(identity.kind.rawValue)
        writer.append(raw: identity.value.utf8)
        return writer.bytes
    }

    /// The snapshot of a customer, in `snapshots`: under his name; under his number where `name`
    /// is empty.
    package static func snapshot(of customer: CustomerKey, named name: String) -> [UInt8] {
        guard !name.isEmpty else { return self.customer(customer) }
        return namedSnapshots(of: customer.scope) + Array(name.utf8)
    }

    /// The snapshot of the customer of this name, which is not empty, in `snapshots`.
    package static func snapshot(named name: Span<UInt8>, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: namedSnapshotNameOffset + name.count)
        writer.append(scope.value)
        writer.append(UInt8.max)
        for index in name.indices { writer.append(name[index]) }
        return writer.bytes
    }

    /// The prefix of the snapshots of named customers, in `snapshots`. No number begins with 255.
    package static func namedSnapshots(of scope: ScopeNumber) -> [UInt8] {
        scopePrefix(scope) + [UInt8.max]
    }

    /// Where the name begins in the key of a named customer's snapshot.
    package static let namedSnapshotNameOffset = 3

    /// A customer's record in `customers`, his snapshot in `snapshots` while he has no name, and
    /// the prefix of what is his in `transactions`, `renewals` and `history`.
    package static func customer(_ customer: CustomerKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(customer.scope.value)
        writer.append(customer.number)
        return writer.bytes
    }

    /// How many bytes a customer's own key has; longer keys under it are his links.
    package static let customerByteCount = 10

    /// The prefix of all that is in a scope, in the keyspaces whose keys begin with it.
    package static func scopePrefix(_ scope: ScopeNumber) -> [UInt8] {
        [UInt8(scope.value >> 8), UInt8(truncatingIfNeeded: scope.value)]
    }

    /// A record of a customer's under a name, in `transactions` or `renewals`.
    package static func of(_ customer: CustomerKey, _ name: String) -> [UInt8] {
        self.customer(customer) + Array(name.utf8)
    }

    /// A link said in so many words, in `customers`.
    package static func link(_ customer: CustomerKey, _ identity: Identity) -> [UInt8] {
        self.customer(customer) + [identity.kind.rawValue] + Array(identity.value.utf8)
    }

    /// A chain that an unsigned body named and of which no fact is known, in `customers`.
    package static func hint(_ customer: CustomerKey, _ chain: String) -> [UInt8] {
        self.customer(customer) + [hintKind] + Array(chain.utf8)
    }

    /// What stands in the place of an identity's kind in the key of a hint.
    package static let hintKind = UInt8(ascii: "h")

    /// The prefix of a household's members.
    package static func household(_ name: String, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(scope.value)
        writer.append(framed: name)
        return writer.bytes
    }

    /// The number that a key ends in: a member of a household, a revision of a history.
    package static func trailingNumber(of key: [UInt8]) -> UInt64 {
        key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// One member of a household.
    package static func member(
        _ number: UInt64, of household: String, in scope: ScopeNumber
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(raw: self.household(household, in: scope))
        writer.append(number)
        return writer.bytes
    }

    /// What a signed payload in `payloads` is of.
    package enum Payload: Sendable {
        case transaction(String)
        case renewal(String)
        case notification(revision: UInt64)
    }

    /// A signed payload.
    package static func payload(_ payload: Payload, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(scope.value)
        switch payload {
        case .transaction(let id):
            writer.append(UInt8(ascii: "t"))
            writer.append(raw: id.utf8)
        case .renewal(let id):
            writer.append(UInt8(ascii: "r"))
            writer.append(raw: id.utf8)
        case .notification(let revision):
            writer.append(UInt8(ascii: "n"))
            writer.append(revision)
        }
        return writer.bytes
    }

    /// The revision that stored a notification, by its UUID.
    package static func notification(uuid: String, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(scope.value)
        writer.append(UInt8(ascii: "u"))
        writer.append(raw: uuid.utf8)
        return writer.bytes
    }

    /// A notification by the revision that stored it.
    package static func notification(revision: UInt64, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(scope.value)
        writer.append(UInt8(ascii: "r"))
        writer.append(revision)
        return writer.bytes
    }

    /// That `revision` touched `customer`.
    package static func history(_ customer: CustomerKey, revision: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(raw: self.customer(customer))
        writer.append(revision)
        return writer.bytes
    }

    /// The `index`-th audit record of `revision`.
    package static func audit(revision: UInt64, index: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(revision)
        writer.append(UInt16(clamping: index))
        return writer.bytes
    }
}
