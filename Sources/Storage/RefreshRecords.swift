import Bytes
package import Entitlements

/// Why a customer is to be fetched from Apple; the raw values stand on the wire and in the store.
package enum RefreshTrigger: String, Hashable, CaseIterable, Sendable {
    case revoke = "REVOKE"
    case refund = "REFUND"
    case refundReversed = "REFUND_REVERSED"
    /// The purchase that a family copy probably or surely came from was refunded.
    case familyRefund = "FAMILY_REFUND"
    case unknownType = "UNKNOWN_TYPE"
    /// A V1 body named a chain of his.
    case v1Hint = "V1_HINT"
    /// An active family copy that was not looked at for long.
    case sweep = "SWEEP"
    case admin = "ADMIN"
}

/// A customer who waits for a fetch from Apple; one per customer, however many events asked for it.
package struct RefreshJob: Hashable, Sendable {
    /// What asked for it last.
    package var trigger: RefreshTrigger
    /// When it was first asked for since the last fetch, by our clock.
    package var queuedAt: Timestamp
    /// The revision that asked for it last: a fetch that began before it does not end it.
    package var revision: UInt64
    /// Not tried before this instant.
    package var notBefore: Timestamp
    /// Attempts that failed since.
    package var attempts: UInt32
    /// Why the last one failed: a reason of the wire; empty when none did.
    package var lastReason: String
    /// The same for people.
    package var lastMessage: String

    /// A job that no attempt was made at.
    package init(trigger: RefreshTrigger, queuedAt: Timestamp, revision: UInt64) {
        self.trigger = trigger
        self.queuedAt = queuedAt
        self.revision = revision
        notBefore = queuedAt
        attempts = 0
        lastReason = ""
        lastMessage = ""
    }
}

/// An instant that reconciliation goes on from after a restart; the raw values stand in keys.
package enum ReconciliationMark: UInt8, Hashable, CaseIterable, Sendable {
    /// All notifications that Apple signed before it are accounted for.
    case notificationsComplete = 1
    /// When the last whole sweep over active family copies ended.
    case sweepFinished = 2
}

// MARK: - Keys

extension Key {
    /// A customer's job, in `refreshes`.
    package static func refresh(_ customer: CustomerKey) -> [UInt8] {
        refreshes(of: customer.scope) + bigEndian(customer.number)
    }

    /// The prefix of the jobs of a scope, in the order of customers.
    package static func refreshes(of scope: ScopeNumber) -> [UInt8] {
        scopePrefix(scope) + [UInt8(ascii: "q")]
    }

    /// When a customer was last fetched whole, in `refreshes`.
    package static func refreshed(_ customer: CustomerKey) -> [UInt8] {
        scopePrefix(customer.scope) + [UInt8(ascii: "d")] + bigEndian(customer.number)
    }

    /// An instant to go on from, in `meta`.
    package static func mark(_ mark: ReconciliationMark, of scope: ScopeNumber) -> [UInt8] {
        Array("mark".utf8) + scopePrefix(scope) + [mark.rawValue]
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.append(number)
        return writer.bytes
    }
}

// MARK: - Records

extension RecordCodec {
    /// A customer who waits for a fetch.
    package static func encode(_ job: RefreshJob) -> [UInt8] {
        var writer = begin()
        writer.append(framed: job.trigger.rawValue)
        writer.append(job.queuedAt.milliseconds)
        writer.append(job.revision)
        writer.append(job.notBefore.milliseconds)
        writer.append(job.attempts)
        writer.append(framed: job.lastReason)
        writer.append(framed: job.lastMessage)
        return writer.bytes
    }

    /// A customer who waits for a fetch.
    package static func decodeRefresh(_ bytes: [UInt8]) throws(StorageError) -> RefreshJob {
        try decode(.refreshes, bytes) { (reader) throws(ByteError) in
            guard let trigger = RefreshTrigger(rawValue: try reader.readString()) else {
                throw .invalidValue(offset: reader.offset)
            }
            var job = RefreshJob(
                trigger: trigger, queuedAt: Timestamp(milliseconds: try reader.readInt64()),
                revision: try reader.readUInt64())
            job.notBefore = Timestamp(milliseconds: try reader.readInt64())
            job.attempts = try reader.readUInt32()
            job.lastReason = try reader.readString()
            job.lastMessage = try reader.readString()
            return job
        }
    }

    /// An instant.
    package static func encode(_ instant: Timestamp) -> [UInt8] {
        encode(UInt64(bitPattern: instant.milliseconds))
    }

    /// An instant.
    package static func decodeInstant(
        _ bytes: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> Timestamp {
        Timestamp(milliseconds: Int64(bitPattern: try decodeNumber(bytes, in: keyspace)))
    }
}
