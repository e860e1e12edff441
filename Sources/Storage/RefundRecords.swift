import Bytes
package import Entitlements

/// What ends the access of a transaction; the raw values stand in the store.
package enum EndingCause: UInt8, Hashable, CaseIterable, Sendable {
    /// Its own evidence: a copy with a revocationDate, or a REVOKE without one.
    case revoked = 1
    /// The refund of a purchase in its declared household, where the catalog lets that cut.
    case suspended = 2
    /// The same of a family that was recognised, not declared.
    case matched = 3
}

/// An end of access.
package struct Ending: Hashable, Sendable {
    /// From when on, by Apple's dates.
    package var instant: Timestamp
    /// When this server learnt of it, by our clock.
    package var learnedAt: Timestamp
    /// Whether this server gave the access until then; not where the transaction had ended when it
    /// first arrived, as all that is old does when a history is fetched.
    package var isServedUntilLearned: Bool

    /// An end.
    package init(instant: Timestamp, learnedAt: Timestamp, isServedUntilLearned: Bool = true) {
        self.instant = instant
        self.learnedAt = learnedAt
        self.isServedUntilLearned = isServedUntilLearned
    }
}

/// A transaction whose access has ended before its time: a refunded purchase, or a family copy.
///
/// One per transaction, under the earliest of its ends. Written by the commit of the fact that
/// causes it and removed when no end is left; `learnedAt` stays when an instant or the customer
/// changes. Nothing in it depends on the catalog.
package struct RefundRecord: Hashable, Sendable {
    /// Whether it was bought or shared.
    package var ownership: Ownership
    /// Whether its own evidence says that a payment went back.
    package var isPaymentReversed: Bool
    /// The product.
    package var productID: String
    /// The ends, by cause; at least one.
    package var endings: [EndingCause: Ending]

    /// An ended transaction.
    package init(
        ownership: Ownership, isPaymentReversed: Bool, productID: String,
        endings: [EndingCause: Ending]
    ) {
        self.ownership = ownership
        self.isPaymentReversed = isPaymentReversed
        self.productID = productID
        self.endings = endings
    }
}

/// Where an ended transaction stands in `refunds`.
package struct RefundPosition: Hashable, Sendable {
    /// The earliest end.
    package var instant: Timestamp
    /// Whose it is.
    package var customer: CustomerKey
    package var transactionID: String

    /// A position.
    package init(instant: Timestamp, customer: CustomerKey, transactionID: String) {
        self.instant = instant
        self.customer = customer
        self.transactionID = transactionID
    }
}

extension Key {
    /// The first key at or after an instant, in `refunds`.
    package static func refunds(from instant: Timestamp, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.append(scope.value)
        writer.append(ordered(instant))
        return writer.bytes
    }

    /// An ended transaction, in `refunds`.
    package static func refund(_ position: RefundPosition) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.append(position.customer.scope.value)
        writer.append(ordered(position.instant))
        writer.append(position.customer.number)
        writer.append(raw: position.transactionID.utf8)
        return writer.bytes
    }

    /// What a key of `refunds` names.
    ///
    /// - Throws: `.corruptRecord` where it is none.
    package static func position(ofRefund key: [UInt8]) throws(StorageError) -> RefundPosition {
        do throws(ByteError) {
            var reader = ByteReader(key)
            let scope = ScopeNumber(try reader.readUInt16())
            let instant = Int64(bitPattern: try reader.readUInt64() ^ signBit)
            let number = try reader.readUInt64()
            guard let id = String(validating: reader.readRest(), as: UTF8.self) else {
                throw .notUTF8(offset: 18)
            }
            return RefundPosition(
                instant: Timestamp(milliseconds: instant),
                customer: CustomerKey(scope: scope, number: number), transactionID: id)
        } catch {
            throw .corruptRecord(
                keyspace: .refunds, message: "a key of \(key.count) bytes does not decode")
        }
    }

    private static let signBit: UInt64 = 1 << 63

    private static func ordered(_ instant: Timestamp) -> UInt64 {
        UInt64(bitPattern: instant.milliseconds) ^ signBit
    }
}

extension RecordCodec {
    /// Stands with the cause of an end whose access was not served until it was learnt.
    private static let unservedBit: UInt8 = 0x80

    /// An ended transaction.
    package static func encode(_ record: RefundRecord) -> [UInt8] {
        var writer = begin()
        writer.append(record.ownership.rawValue)
        writer.append(UInt8(record.isPaymentReversed ? 1 : 0))
        writer.append(framed: record.productID)
        for (cause, ending) in record.endings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.append(cause.rawValue | (ending.isServedUntilLearned ? 0 : unservedBit))
            writer.append(ending.instant.milliseconds)
            writer.append(ending.learnedAt.milliseconds)
        }
        return writer.bytes
    }

    /// An ended transaction.
    package static func decodeRefund(_ bytes: [UInt8]) throws(StorageError) -> RefundRecord {
        try decode(.refunds, bytes) { (reader) throws(ByteError) in
            guard let ownership = Ownership(rawValue: try reader.readUInt8()) else {
                throw .invalidValue(offset: reader.offset - 1)
            }
            let reversed = try reader.readUInt8()
            guard reversed <= 1 else { throw .invalidValue(offset: reader.offset - 1) }
            var record = RefundRecord(
                ownership: ownership, isPaymentReversed: reversed == 1,
                productID: try reader.readString(), endings: [:])
            while reader.remaining > 0 {
                let byte = try reader.readUInt8()
                guard let cause = EndingCause(rawValue: byte & ~unservedBit),
                    record.endings[cause] == nil
                else { throw .invalidValue(offset: reader.offset - 1) }
                record.endings[cause] = Ending(
                    instant: Timestamp(milliseconds: try reader.readInt64()),
                    learnedAt: Timestamp(milliseconds: try reader.readInt64()),
                    isServedUntilLearned: byte & unservedBit == 0)
            }
            guard !record.endings.isEmpty else { throw .invalidValue(offset: reader.offset) }
            return record
        }
    }
}
