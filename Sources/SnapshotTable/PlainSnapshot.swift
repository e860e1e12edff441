import Entitlements

/// The snapshots that most checks are answered from: of one product, whose newest grant is the only
/// one that matters and is of the plainest kind, a subscription or a purchase for good, whole, that
/// holds by its own period and that nothing will suspend, whatever the policy.
///
/// The answer is that of `SnapshotView`, which is the oracle; this one looks at each byte once.
enum PlainSnapshot {
    /// One header, one product, one grant.
    private static var byteCountMin: Int {
        SnapshotLayout.headerByteCount + SnapshotLayout.productByteCount
            + SnapshotLayout.grantByteCount
    }

    /// The answer about a product at an instant, or at the later of now and the newest signedDate
    /// where it is 0; nil where the rules have to be asked.
    @inline(__always)
    static func verdict(
        _ bytes: UnsafeRawBufferPointer, _ product: Span<UInt8>, at instant: Int64,
        orNow now: Int64
    ) -> ProductVerdict? {
        // Every offset is looked at before it is followed, once for all that stands there.
        guard bytes.count >= byteCountMin, let base = bytes.baseAddress,
            unsafe base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == 1 << 32 | 1
        else { return nil }
        let nameStart = Int(unsafe base.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        let nameCount = Int(unsafe base.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
        let grants = Int(unsafe base.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        let grantCount = unsafe base.loadUnaligned(fromByteOffset: 28, as: UInt32.self)
        guard nameStart &+ nameCount <= bytes.count, grantCount > 0,
            grants &+ SnapshotLayout.grantByteCount <= bytes.count,
            unsafe areEqual(
                Span(
                    _unsafeStart: (base + nameStart).assumingMemoryBound(to: UInt8.self),
                    count: nameCount), product)
        else { return nil }
        let newest = unsafe base.loadUnaligned(as: Int64.self)
        let grant = unsafe base + grants
        guard
            let end = unsafe end(of: grant, at: instant > 0 ? instant : max(now, newest))
        else { return nil }
        let ids = Int(unsafe grant.loadUnaligned(fromByteOffset: 76, as: UInt32.self))
        let idCount = Int(unsafe grant.loadUnaligned(fromByteOffset: 80, as: UInt16.self))
        let chainCount = Int(unsafe grant.loadUnaligned(fromByteOffset: 82, as: UInt16.self))
        guard idCount <= UsageTable.notedIDByteCountMax, ids &+ idCount &+ chainCount <= bytes.count
        else { return nil }
        let code = unsafe grant.load(fromByteOffset: 73, as: UInt8.self)
        return unsafe ProductVerdict(
            activeUntil: end, Ownership(code: code),
            ids: (base + ids).assumingMemoryBound(to: UInt8.self),
            UInt16(truncatingIfNeeded: idCount), UInt16(truncatingIfNeeded: chainCount))
    }

    /// Until when the grant at `grant` holds; nil where it is not plain, or does not hold.
    @inline(__always)
    private static func end(of grant: UnsafeRawPointer, at now: Int64) -> Int64? {
        func instant(_ field: Int) -> Int64 {
            unsafe grant.loadUnaligned(fromByteOffset: field, as: Int64.self)
        }
        let type = unsafe grant.load(fromByteOffset: 72, as: UInt8.self)
        let flags = unsafe grant.load(fromByteOffset: 75, as: UInt8.self)
        guard type &- 1 < 2, flags == 0, min(instant(40), instant(48)) == .max,
            max(instant(0), instant(64)) <= now
        else { return nil }
        let end = instant(8)
        let cut = min(instant(24), instant(32), instant(56))
        guard now < min(end, cut) else { return nil }
        return min(cut, max(end, instant(16)))
    }
}
