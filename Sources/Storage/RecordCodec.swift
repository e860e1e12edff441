import Bytes
package import Entitlements

/// Turns records into bytes and back; each begins with a byte that names its layout.
///
/// A record of a layout that this release does not know is `StorageError.corruptRecord`.
package enum RecordCodec {
    private static let layout: UInt8 = 1
    /// The layout of a transaction whose family was recognised.
    private static let matchedLayout: UInt8 = 2
    /// What is added to the layout of a fact whose signed copy lies in a notification, whose
    /// revision comes last.
    private static let notifiedLayouts: UInt8 = 2

    /// A reader past the layout byte.
    private static func open(
        _ bytes: [UInt8], layout: UInt8
    ) throws(ByteError) -> ByteReader {
        var reader = ByteReader(bytes)
        guard try reader.readUInt8() == layout else { throw .invalidValue(offset: 0) }
        return reader
    }

    /// A writer past the layout byte.
    static func begin(layout: UInt8 = layout) -> ByteWriter {
        var writer = ByteWriter(capacity: 192)
        writer.append(layout)
        return writer
    }

    /// Runs `read` and turns what it throws into an error that names the keyspace.
    static func decode<Value>(
        _ keyspace: Keyspace, _ bytes: [UInt8], layout: UInt8 = layout,
        _ read: (inout ByteReader) throws(ByteError) -> Value
    ) throws(StorageError) -> Value {
        do throws(ByteError) {
            var reader = try open(bytes, layout: layout)
            let value = try read(&reader)
            try reader.finish()
            return value
        } catch {
            throw .corruptRecord(
                keyspace: keyspace,
                message: "a record of \(bytes.count) bytes does not decode (\(error)); "
                    + "run a rebuild of the customer, or restore a backup")
        }
    }
}

// MARK: - Numbers

extension RecordCodec {
    /// An eight-byte number.
    package static func encode(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.append(number)
        return writer.bytes
    }

    /// An eight-byte number.
    package static func decodeNumber(
        _ bytes: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> UInt64 {
        guard bytes.count == 8 else {
            throw .corruptRecord(
                keyspace: keyspace, message: "a number has \(bytes.count) bytes, expected 8")
        }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Two counts.
    package static func encode(customers: UInt64, transactions: UInt64) -> [UInt8] {
        encode(customers) + encode(transactions)
    }

    /// Two counts.
    package static func decodeCounts(
        _ bytes: [UInt8]
    ) throws(StorageError) -> (customers: UInt64, transactions: UInt64) {
        let customers = try decodeNumber(Array(bytes.prefix(8)), in: .meta)
        return (customers, try decodeNumber(Array(bytes.dropFirst(8)), in: .meta))
    }
}

// MARK: - Facts

extension RecordCodec {
    /// A transaction's newest copy with its evidence.
    package static func encode(_ fact: TransactionFact) -> [UInt8] {
        let transaction = fact.transaction
        let plainLayout = fact.matched == nil ? layout : matchedLayout
        let isNotified = fact.payloadRevision != 0
        var writer = begin(layout: plainLayout + (isNotified ? notifiedLayouts : 0))
        writer.append(framed: transaction.transactionID)
        writer.append(framed: transaction.originalTransactionID)
        writer.append(framed: transaction.productID)
        writer.append(framed: transaction.rawType)
        writer.append(framed: transaction.rawOwnership)
        writer.append(transaction.signedDate.milliseconds)
        writer.append(UInt8(transaction.isUpgraded ? 1 : 0))
        writer.append(optional: transaction.purchaseDate)
        writer.append(optional: transaction.expiresDate)
        writer.append(optional: transaction.revocationDate)
        writer.append(optional: transaction.revocationReason)
        writer.append(optional: transaction.revocationType)
        writer.append(optional: transaction.revocationPercentage)
        writer.append(optional: transaction.appAccountToken)
        writer.append(optional: transaction.appTransactionID)
        writer.append(optional: transaction.webOrderLineItemID)
        writer.append(optional: transaction.subscriptionGroupID)
        writer.append(optional: transaction.price)
        writer.append(optional: transaction.currency)
        writer.append(optional: fact.evidence.datelessRevoke)
        writer.append(optional: fact.evidence.grantNotification)
        writer.append(optional: fact.evidence.activeStatus)
        writer.append(optional: fact.evidence.datedCopy)
        if let matched = fact.matched { append(matched, to: &writer) }
        if isNotified { writer.append(fact.payloadRevision) }
        return writer.bytes
    }

    /// A transaction's newest copy with its evidence.
    package static func decodeTransaction(
        _ bytes: [UInt8]
    ) throws(StorageError) -> TransactionFact {
        let found = bytes.first ?? 0
        let isNotified = found > matchedLayout
        let isMatched = found == matchedLayout || found == matchedLayout + notifiedLayouts
        let layout = (isMatched ? matchedLayout : layout) + (isNotified ? notifiedLayouts : 0)
        return try decode(.transactions, bytes, layout: layout) { (reader) throws(ByteError) in
            let id = try reader.readString()
            let original = try reader.readString()
            let product = try reader.readString()
            let type = try reader.readString()
            let ownership = try reader.readString()
            let signedDate = Timestamp(milliseconds: try reader.readInt64())
            let isUpgraded = try reader.readUInt8() == 1
            var transaction = Transaction(
                transactionID: id, originalTransactionID: original, productID: product,
                rawType: type, rawOwnership: ownership,
                purchaseDate: try reader.readOptionalDate(), signedDate: signedDate)
            transaction.isUpgraded = isUpgraded
            transaction.expiresDate = try reader.readOptionalDate()
            transaction.revocationDate = try reader.readOptionalDate()
            transaction.revocationReason = try reader.readOptionalInt32()
            transaction.revocationType = try reader.readOptionalString()
            transaction.revocationPercentage = try reader.readOptionalInt32()
            transaction.appAccountToken = try reader.readOptionalString()
            transaction.appTransactionID = try reader.readOptionalString()
            transaction.webOrderLineItemID = try reader.readOptionalString()
            transaction.subscriptionGroupID = try reader.readOptionalString()
            transaction.price = try reader.readOptionalInt64()
            transaction.currency = try reader.readOptionalString()
            var evidence = Evidence()
            evidence.datelessRevoke = try reader.readOptionalDate()
            evidence.grantNotification = try reader.readOptionalDate()
            evidence.activeStatus = try reader.readOptionalDate()
            evidence.datedCopy = try reader.readOptionalDate()
            var fact = TransactionFact(
                transaction: transaction, evidence: evidence,
                matched: isMatched ? try readMatched(&reader) : nil)
            if isNotified { fact.payloadRevision = try reader.readUInt64() }
            return fact
        }
    }

    /// A chain's newest renewal info.
    package static func encode(_ renewal: RenewalInfo) -> [UInt8] {
        let isNotified = renewal.payloadRevision != 0
        var writer = begin(layout: layout + (isNotified ? notifiedLayouts : 0))
        writer.append(framed: renewal.originalTransactionID)
        writer.append(renewal.signedDate.milliseconds)
        writer.append(UInt8(renewal.isInBillingRetryPeriod ? 1 : 0))
        writer.append(optional: renewal.productID)
        writer.append(optional: renewal.autoRenewStatus)
        writer.append(optional: renewal.autoRenewProductID)
        writer.append(optional: renewal.gracePeriodExpiresDate)
        writer.append(optional: renewal.renewalDate)
        writer.append(optional: renewal.expirationIntent)
        if isNotified { writer.append(renewal.payloadRevision) }
        return writer.bytes
    }

    /// A chain's newest renewal info.
    package static func decodeRenewal(_ bytes: [UInt8]) throws(StorageError) -> RenewalInfo {
        let isNotified = bytes.first == layout + notifiedLayouts
        let layout = layout + (isNotified ? notifiedLayouts : 0)
        return try decode(.renewals, bytes, layout: layout) { (reader) throws(ByteError) in
            var renewal = RenewalInfo(
                originalTransactionID: try reader.readString(),
                signedDate: Timestamp(milliseconds: try reader.readInt64()))
            renewal.isInBillingRetryPeriod = try reader.readUInt8() == 1
            renewal.productID = try reader.readOptionalString()
            renewal.autoRenewStatus = try reader.readOptionalInt32()
            renewal.autoRenewProductID = try reader.readOptionalString()
            renewal.gracePeriodExpiresDate = try reader.readOptionalDate()
            renewal.renewalDate = try reader.readOptionalDate()
            renewal.expirationIntent = try reader.readOptionalInt32()
            if isNotified { renewal.payloadRevision = try reader.readUInt64() }
            return renewal
        }
    }
}

// MARK: - Identities, customers, notifications, audit

extension RecordCodec {
    /// Whom a name belongs to.
    package static func encode(_ record: IdentityRecord) -> [UInt8] {
        var writer = begin()
        writer.append(record.said)
        writer.append(record.moved)
        writer.append(record.movedAt)
        writer.append(record.primary)
        for holder in record.holders { writer.append(holder) }
        return writer.bytes
    }

    /// Whom a name belongs to.
    package static func decodeIdentity(_ bytes: [UInt8]) throws(StorageError) -> IdentityRecord {
        try decode(.identities, bytes) { (reader) throws(ByteError) in
            var record = IdentityRecord(
                said: try reader.readUInt64(), moved: try reader.readUInt64(),
                movedAt: try reader.readUInt64(), primary: try reader.readUInt64())
            while reader.remaining > 0 { record.holders.append(try reader.readUInt64()) }
            return record
        }
    }

    /// What is known of a customer besides facts.
    package static func encode(_ record: CustomerRecord) -> [UInt8] {
        var writer = begin()
        writer.append(framed: record.name)
        writer.append(framed: record.household)
        writer.append(record.mergedInto)
        writer.append(record.revision)
        writer.append(
            UInt8(
                (record.isEntangled ? 1 : 0) | (record.isLong ? 2 : 0)
                    | (record.isForgotten ? 4 : 0)))
        return writer.bytes
    }

    /// What is known of a customer besides facts.
    package static func decodeCustomer(_ bytes: [UInt8]) throws(StorageError) -> CustomerRecord {
        try decode(.customers, bytes) { (reader) throws(ByteError) in
            var record = CustomerRecord(
                name: try reader.readString(), household: try reader.readString(),
                mergedInto: try reader.readUInt64(), revision: try reader.readUInt64())
            let flags = try reader.readUInt8()
            record.isEntangled = flags & 1 != 0
            record.isLong = flags & 2 != 0
            record.isForgotten = flags & 4 != 0
            return record
        }
    }

    /// A stored notification.
    package static func encode(_ record: NotificationRecord) -> [UInt8] {
        var writer = begin()
        writer.append(framed: record.notificationUUID)
        writer.append(framed: record.type)
        writer.append(framed: record.subtype)
        writer.append(record.signedDate.milliseconds)
        writer.append(record.receivedAt.milliseconds)
        writer.append(record.disposition.rawValue)
        writer.append(framed: record.transactionID)
        writer.append(record.revision)
        return writer.bytes
    }

    /// A stored notification.
    package static func decodeNotification(
        _ bytes: [UInt8]
    ) throws(StorageError) -> NotificationRecord {
        try decode(.notifications, bytes) { (reader) throws(ByteError) in
            let uuid = try reader.readString()
            let type = try reader.readString()
            let subtype = try reader.readString()
            let signedDate = Timestamp(milliseconds: try reader.readInt64())
            let receivedAt = Timestamp(milliseconds: try reader.readInt64())
            guard let disposition = Disposition(rawValue: try reader.readUInt8()) else {
                throw .invalidValue(offset: reader.offset)
            }
            return NotificationRecord(
                notificationUUID: uuid, type: type, subtype: subtype, signedDate: signedDate,
                receivedAt: receivedAt, disposition: disposition,
                transactionID: try reader.readString(), revision: try reader.readUInt64())
        }
    }

    /// An audit entry.
    package static func encode(_ record: AuditRecord) -> [UInt8] {
        var writer = begin()
        writer.append(record.at.milliseconds)
        writer.append(framed: record.action)
        writer.append(framed: record.customer)
        writer.append(framed: record.detail)
        return writer.bytes
    }

    /// An audit entry.
    package static func decodeAudit(_ bytes: [UInt8]) throws(StorageError) -> AuditRecord {
        try decode(.audit, bytes) { (reader) throws(ByteError) in
            AuditRecord(
                at: Timestamp(milliseconds: try reader.readInt64()),
                action: try reader.readString(), customer: try reader.readString(),
                detail: try reader.readString())
        }
    }
}

// MARK: - Optional fields: one byte of presence, then the value

extension ByteWriter {
    fileprivate mutating func append(optional value: Timestamp?) {
        append(optional: value?.milliseconds)
    }

    fileprivate mutating func append(optional value: Int32?) {
        append(UInt8(value == nil ? 0 : 1))
        if let value { append(UInt32(bitPattern: value)) }
    }

    fileprivate mutating func append(optional value: Int64?) {
        append(UInt8(value == nil ? 0 : 1))
        if let value { append(value) }
    }

    fileprivate mutating func append(optional value: String?) {
        append(UInt8(value == nil ? 0 : 1))
        if let value { append(framed: value) }
    }
}

extension ByteReader {
    fileprivate mutating func readPresence() throws(ByteError) -> Bool {
        switch try readUInt8() {
        case 0: false
        case 1: true
        default: throw .invalidValue(offset: offset - 1)
        }
    }

    fileprivate mutating func readOptionalDate() throws(ByteError) -> Timestamp? {
        try readOptionalInt64().map(Timestamp.init(milliseconds:))
    }

    fileprivate mutating func readOptionalInt32() throws(ByteError) -> Int32? {
        try readPresence() ? Int32(bitPattern: try readUInt32()) : nil
    }

    fileprivate mutating func readOptionalInt64() throws(ByteError) -> Int64? {
        try readPresence() ? try readInt64() : nil
    }

    fileprivate mutating func readOptionalString() throws(ByteError) -> String? {
        try readPresence() ? try readString() : nil
    }
}
