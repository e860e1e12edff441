package import Entitlements

// The bytes of a snapshot, layout 1. Integers are little-endian, offsets count from the start.
//
//   0  i64  newest signedDate among the facts; Int64.min without any
//   8  u32  layout, 1
//  12  u32  number of products
//  16  per product, 16 bytes, sorted by name: u32 name offset, u32 name length,
//      u32 grants offset, u32 grant count
//   …  per grant, 84 bytes, in the order of GrantList: i64 start, end, graceEnd, revokedFrom,
//      overriddenFrom, suspendedFrom, suspendedFromWhenProratedKept, upgradedFrom, endOfRest;
//      u8 type, ownership, revocationReason, flags; u32 offset of transactionId, u16 its length,
//      u16 length of originalTransactionId, which follows it
//   …  the texts

enum SnapshotLayout {
    static let layout: UInt32 = 1
    static let headerByteCount = 16
    static let productByteCount = 16
    static let grantByteCount = 84
}

/// Turns a customer's grants into the bytes that CheckAccess reads.
package enum SnapshotCodec {
    /// The snapshot of these grants, each list in the order of `GrantList`, and of
    /// `CustomerHistory.newestSignedDate`.
    package static func encode(
        _ grantsByProduct: [ExactName: [GrantRecord]], newestSignedDate: Timestamp?
    ) -> [UInt8] {
        let products = grantsByProduct.sorted { $0.key < $1.key }
        var writer = SnapshotWriter(products: products.map { ($0.key.text, $0.value.count) })
        writer.appendHeader(newestSignedDate: newestSignedDate)
        for (_, records) in products {
            let ends = GrantArray.endsOfRest(records.map(\.grant))
            for (record, end) in zip(records, ends) { writer.append(record, endOfRest: end) }
        }
        return writer.finish()
    }
}

/// Lays out the fixed part and the texts behind it.
private struct SnapshotWriter {
    private var fixed: [UInt8] = []
    private var texts: [UInt8] = []
    private let products: [(name: String, grantCount: Int)]
    private let textsOffset: Int

    init(products: [(String, Int)]) {
        self.products = products.map { (name: $0.0, grantCount: $0.1) }
        let grantCount = products.reduce(0) { $0 + $1.1 }
        textsOffset =
            SnapshotLayout.headerByteCount + products.count * SnapshotLayout.productByteCount
            + grantCount * SnapshotLayout.grantByteCount
        fixed.reserveCapacity(textsOffset)
    }

    mutating func appendHeader(newestSignedDate: Timestamp?) {
        append((newestSignedDate ?? .distantPast).milliseconds)
        append(SnapshotLayout.layout)
        append(UInt32(products.count))
        var grantsOffset =
            SnapshotLayout.headerByteCount + products.count * SnapshotLayout.productByteCount
        for product in products {
            append(UInt32(textsOffset + texts.count))
            append(UInt32(product.name.utf8.count))
            append(UInt32(grantsOffset))
            append(UInt32(product.grantCount))
            texts.append(contentsOf: product.name.utf8)
            grantsOffset += product.grantCount * SnapshotLayout.grantByteCount
        }
    }

    mutating func append(_ record: GrantRecord, endOfRest: Int64) {
        let grant = record.grant
        append(grant.start)
        append(grant.end)
        append(grant.graceEnd)
        append(grant.revokedFrom)
        append(grant.overriddenFrom)
        append(grant.suspendedFrom)
        append(grant.suspendedFromWhenProratedKept)
        append(grant.upgradedFrom)
        append(endOfRest)
        fixed.append(grant.type.rawValue)
        fixed.append(grant.ownership.rawValue)
        fixed.append(grant.revocationReason.rawValue)
        fixed.append(grant.flags.rawValue)
        append(UInt32(textsOffset + texts.count))
        append(UInt16(record.transactionID.utf8.count))
        append(UInt16(record.originalTransactionID.utf8.count))
        texts.append(contentsOf: record.transactionID.utf8)
        texts.append(contentsOf: record.originalTransactionID.utf8)
    }

    func finish() -> [UInt8] { fixed + texts }

    private mutating func append(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            fixed.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
