package import Entitlements

// Builds a snapshot from plain grants and from names that stand in an arena of bytes: the same
// bytes as `SnapshotCodec.encode`, which is its oracle, without a text or a list per grant. The
// size is known before the first byte, so it is one allocation.

/// One grant of a snapshot to be built.
package struct PlacedGrant: Sendable, BitwiseCopyable {
    /// The grant.
    package var grant: Grant
    /// See `GrantList.endOfRest`.
    package var endOfRest: Int64
    /// The transaction behind it.
    package var transactionID: TextRange
    /// Its chain.
    package var originalTransactionID: TextRange

    /// A grant of a transaction of a chain.
    package init(
        grant: Grant, endOfRest: Int64 = .min, transactionID: TextRange,
        originalTransactionID: TextRange
    ) {
        self.grant = grant
        self.endOfRest = endOfRest
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
    }
}

/// One product of a snapshot to be built.
package struct PlacedProduct: Sendable {
    /// Its name.
    package var name: TextRange
    /// Its grants, as positions in the list of all.
    package var grants: Range<Int>

    /// A product with these grants.
    package init(name: TextRange, grants: Range<Int>) {
        self.name = name
        self.grants = grants
    }
}

/// Lays out snapshots; see above.
package enum SnapshotBuilder {
    /// The snapshot of `products`, which are sorted by name; their ranges follow each other and
    /// cover `grants`.
    package static func build(
        newestSignedDate: Int64, products: [PlacedProduct], grants: [PlacedGrant],
        arena: [UInt8], layout: UInt32 = 1, trailer: [UInt8] = []
    ) -> [UInt8] {
        let grantsOffset =
            SnapshotLayout.headerByteCount + products.count * SnapshotLayout.productByteCount
        let textsOffset = grantsOffset + grants.count * SnapshotLayout.grantByteCount
        var byteCount = textsOffset + trailer.count
        for product in products { byteCount += Int(product.name.count) }
        for grant in grants {
            byteCount += Int(grant.transactionID.count) + Int(grant.originalTransactionID.count)
        }
        return [UInt8](capacity: byteCount) { (output: inout OutputSpan<UInt8>) in
            append(newestSignedDate, to: &output)
            append(layout, to: &output)
            append(UInt32(products.count), to: &output)
            var text = textsOffset
            for product in products {
                append(UInt32(text), to: &output)
                append(UInt32(product.name.count), to: &output)
                append(
                    UInt32(
                        grantsOffset + product.grants.lowerBound * SnapshotLayout.grantByteCount),
                    to: &output)
                append(UInt32(product.grants.count), to: &output)
                text += Int(product.name.count)
            }
            for grant in grants { append(grant, text: &text, to: &output) }
            let arena = arena.span
            for product in products { append(product.name, of: arena, to: &output) }
            for grant in grants {
                append(grant.transactionID, of: arena, to: &output)
                append(grant.originalTransactionID, of: arena, to: &output)
            }
            for byte in trailer { output.append(byte) }
        }
    }

    private static func append(
        _ placed: PlacedGrant, text: inout Int, to output: inout OutputSpan<UInt8>
    ) {
        let grant = placed.grant
        append(grant.start, to: &output)
        append(grant.end, to: &output)
        append(grant.graceEnd, to: &output)
        append(grant.revokedFrom, to: &output)
        append(grant.overriddenFrom, to: &output)
        append(grant.suspendedFrom, to: &output)
        append(grant.suspendedFromWhenProratedKept, to: &output)
        append(grant.upgradedFrom, to: &output)
        append(placed.endOfRest, to: &output)
        output.append(grant.type.rawValue)
        output.append(grant.ownership.rawValue)
        output.append(grant.revocationReason.rawValue)
        output.append(grant.flags.rawValue)
        append(UInt32(text), to: &output)
        append(placed.transactionID.count, to: &output)
        append(placed.originalTransactionID.count, to: &output)
        text += Int(placed.transactionID.count) + Int(placed.originalTransactionID.count)
    }

    private static func append(
        _ text: TextRange, of arena: Span<UInt8>, to output: inout OutputSpan<UInt8>
    ) {
        for index in text.range { output.append(arena[index]) }
    }

    @inline(__always)
    private static func append(
        _ value: some FixedWidthInteger, to output: inout OutputSpan<UInt8>
    ) {
        var shift = 0
        while shift < value.bitWidth {
            output.append(UInt8(truncatingIfNeeded: value >> shift))
            shift += 8
        }
    }
}
