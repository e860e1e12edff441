import Bytes
package import Entitlements

// The index of transactions that may be one family's: all with one `FamilyKey` stand together, and
// each record says what there is to know of one, so that a family is recognised by one short scan.

extension Key {
    /// The prefix of all that share `family`, in `matches`.
    package static func matches(_ family: FamilyKey, in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.append(scope.value)
        writer.append(UInt16.max)
        writer.append(family.purchaseDate.milliseconds)
        writer.append(family.expiresDate?.milliseconds ?? 0)
        writer.append(framed: family.productID.text)
        return writer.bytes
    }

    /// How many bytes of these keys come before the product, and are the same in all of a family.
    package static let matchDatesByteCount = 20

    /// The key of a record that an earlier release wrote: scope, framed product, dates, and what
    /// follows them. Nil where it is in today's order, which begins as no product's length does.
    package static func matchByDate(ofEarlierKey key: [UInt8]) -> [UInt8]? {
        let lengthEnd = 4
        guard key.count > lengthEnd else { return nil }
        let length = Int(key[2]) << 8 | Int(key[3])
        let productEnd = lengthEnd + length
        guard length < Int(UInt16.max), key.count >= productEnd + 16 else { return nil }
        let dates = key[productEnd..<productEnd + 16]
        return key[..<2] + [0xFF, 0xFF] + dates + key[2..<productEnd] + key[(productEnd + 16)...]
    }

    /// One of them.
    package static func match(
        _ candidate: FamilyCandidate, of family: FamilyKey, in scope: ScopeNumber
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.append(raw: matches(family, in: scope))
        writer.append(candidate.customer)
        writer.append(raw: candidate.transactionID.utf8)
        return writer.bytes
    }
}

extension RecordCodec {
    /// What `matches` holds of a candidate besides its key.
    package static func encode(_ candidate: FamilyCandidate) -> [UInt8] {
        var writer = begin()
        writer.append(UInt8(candidate.isPurchase ? 1 : 0))
        writer.append(UInt8(candidate.lineItemID == nil ? 0 : 1))
        if let lineItem = candidate.lineItemID { writer.append(framed: lineItem) }
        writer.append(UInt8(candidate.isEnded ? 1 : 0))
        writer.append(candidate.refund)
        return writer.bytes
    }

    /// A candidate from a record of `matches`.
    ///
    /// The first `prefixByteCount` bytes of `key` are those of `Key.matches`.
    ///
    /// - Throws: `.corruptRecord` where either does not decode.
    package static func decodeMatch(
        key: [UInt8], prefixByteCount: Int, value: [UInt8]
    ) throws(StorageError) -> FamilyCandidate {
        guard key.count >= prefixByteCount + 8,
            let id = String(validating: key.dropFirst(prefixByteCount + 8), as: UTF8.self)
        else {
            throw .corruptRecord(
                keyspace: .matches, message: "a key of \(key.count) bytes does not decode")
        }
        let customer = key.dropFirst(prefixByteCount).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return try decode(.matches, value) { (reader) throws(ByteError) in
            FamilyCandidate(
                customer: customer, transactionID: id, isPurchase: try reader.readFlag(),
                lineItemID: try reader.readFlag() ? try reader.readString() : nil,
                isEnded: try reader.readFlag(), refund: try reader.readRefund())
        }
    }

    static func append(_ matched: MatchedPurchase, to writer: inout ByteWriter) {
        writer.append(framed: matched.transactionID)
        writer.append(matched.kind.rawValue)
        writer.append(matched.refund)
    }

    static func readMatched(_ reader: inout ByteReader) throws(ByteError) -> MatchedPurchase {
        let id = try reader.readString()
        guard let kind = FamilyLinkKind(rawValue: try reader.readUInt8()) else {
            throw .invalidValue(offset: reader.offset - 1)
        }
        return MatchedPurchase(transactionID: id, kind: kind, refund: try reader.readRefund())
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ refund: PurchaseRefund?) {
        append(UInt8(refund == nil ? 0 : 1))
        guard let refund else { return }
        append(UInt8(refund.isProrated ? 1 : 0))
        append(refund.date.milliseconds)
        append(refund.signedDate.milliseconds)
    }
}

extension ByteReader {
    fileprivate mutating func readFlag() throws(ByteError) -> Bool {
        let flag = try readUInt8()
        guard flag <= 1 else { throw .invalidValue(offset: offset - 1) }
        return flag == 1
    }

    fileprivate mutating func readRefund() throws(ByteError) -> PurchaseRefund? {
        guard try readFlag() else { return nil }
        let isProrated = try readFlag()
        return PurchaseRefund(
            date: Timestamp(milliseconds: try readInt64()), isProrated: isProrated,
            signedDate: Timestamp(milliseconds: try readInt64()))
    }
}
