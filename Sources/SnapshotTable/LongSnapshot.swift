package import Entitlements

// The bytes of a snapshot of a long history, layout 2. It is laid out as layout 1, but a product
// with many grants has its newest ones only: its head. For every instant from the product's
// horizon on the head answers as all grants would, under every catalog; before it the facts must be
// asked. The horizon is never after `newestSignedDate`, so a question about now never is before it.
//
//   …  what layout 1 has; `endOfRest` of a head's last grant speaks of those left out
//   …  per product, 8 bytes, in the order of names: i64 horizon; Int64.min where all grants stand
//   …  what the commit thread needs to add to the head, see `LongHistory`
//   …  u32 offset of the horizons, at the very end

/// What layout 2 adds to a snapshot.
package enum LongSnapshot {
    /// The number of the layout.
    package static let layout: UInt32 = 2

    /// What stands behind the grants and texts of layout 1.
    ///
    /// - Parameters:
    ///   - horizons: one per product, in the order of names.
    ///   - index: what follows them, whatever it is.
    ///   - offset: how many bytes stand before.
    /// - Returns: The bytes to put at the end.
    package static func trailer(horizons: [Int64], index: [UInt8], offset: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for horizon in horizons { append(UInt64(bitPattern: horizon), 8, to: &bytes) }
        bytes += index
        append(UInt64(offset), 4, to: &bytes)
        return bytes
    }

    private static func append(_ value: UInt64, _ byteCount: Int, to bytes: inout [UInt8]) {
        for index in 0..<byteCount {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }
}

extension SnapshotView {
    /// Where the horizons stand; nil in layout 1.
    private var horizonsOffset: Int? {
        isLong ? Int(loadUInt32(bytes, at: bytes.count - 4)) : nil
    }

    /// Whether products may have a head only.
    package var isLong: Bool {
        bytes.count >= SnapshotLayout.headerByteCount + 4
            && loadUInt32(bytes, at: 8) == LongSnapshot.layout
    }

    /// Whether what stands here answers for the product at `index` at `instant`; else its facts
    /// must be asked.
    package func reaches(back instant: Int64, ofProductAt index: Int) -> Bool {
        guard let offset = horizonsOffset else { return true }
        return instant >= loadInt64(bytes, at: offset + index * 8)
    }

    /// From when on the product at `index` is answered from here; `Int64.min`: always.
    package func horizon(ofProductAt index: Int) -> Int64 {
        horizonsOffset.map { loadInt64(bytes, at: $0 + index * 8) } ?? .min
    }

    /// The commit thread's part of layout 2; nil in layout 1.
    package var longIndex: [UInt8]? {
        guard let offset = horizonsOffset else { return nil }
        let range = offset + productCount * 8..<bytes.count - 4
        return range.map { bytes[$0] }
    }

    /// Whether what layout 2 adds lies within the bytes.
    var isLongWellFormed: Bool {
        guard let offset = horizonsOffset else { return false }
        return offset >= SnapshotLayout.headerByteCount
            && offset + productCount * 8 <= bytes.count - 4
    }
}

extension Grant {
    /// An instant from which on it can never grant, whatever the catalog says; `Int64.min` when it
    /// never can, `Int64.max` when the catalog decides.
    package var latestStop: Int64 {
        switch type {
        case .consumable, .unknown: return .min
        case .nonRenewing where ownership == .familyShared: return .min
        case .autoRenewable, .nonConsumable, .nonRenewing: break
        }
        if flags.contains(.incomplete) { return .min }
        var stop = type == .nonRenewing ? Int64.max : max(end, graceEnd)
        stop = min(stop, overriddenFrom, upgradedFrom)
        // A prorated refund of what does not renew may be kept.
        if type == .autoRenewable || !flags.contains(.prorated) { stop = min(stop, revokedFrom) }
        return stop
    }
}
