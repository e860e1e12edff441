package import Entitlements

/// A look into the bytes of a snapshot; nothing is decoded before it is asked for.
///
/// Bytes that come from disk pass `isWellFormed` before anything else is asked of them.
package struct SnapshotView: ~Escapable {
    let bytes: Span<UInt8>

    /// A view of these bytes, which live as long as it does.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// The newest signedDate among the facts; `Int64.min` without any.
    package var newestSignedDate: Int64 { load64(0) }

    /// How many products it speaks of.
    package var productCount: Int { Int(load32(12)) }

    /// The grants of the product at `index`, in the order of names.
    @inline(__always)
    @_lifetime(copy self)
    package func grants(ofProductAt index: Int) -> GrantsView {
        let entry = SnapshotLayout.headerByteCount + index * SnapshotLayout.productByteCount
        return GrantsView(
            bytes: bytes, offset: Int(load32(entry + 8)), count: Int(load32(entry + 12)))
    }

    /// The name of the product at `index`.
    @inline(__always)
    @_lifetime(copy self)
    package func productID(at index: Int) -> Span<UInt8> {
        let entry = SnapshotLayout.headerByteCount + index * SnapshotLayout.productByteCount
        let offset = Int(load32(entry))
        return bytes.extracting(offset..<offset + Int(load32(entry + 4)))
    }

    /// Which product is called `name`; nil when the customer has no transaction of it.
    @inline(__always)
    package func index(ofProduct name: Span<UInt8>) -> Int? {
        // One product is the rule, and to be the same is less to ask than to come before.
        if productCount == 1 { return areEqual(productID(at: 0), name) ? 0 : nil }
        var (low, high) = (0, productCount)
        while low < high {
            let middle = (low + high) / 2
            switch order(productID(at: middle), name) {
            case 0: return middle
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return nil
    }

    /// Answers for the product called `name` at an instant, or at the later of now and the newest
    /// signedDate where none is given; nil when the customer has no transaction of it.
    @_lifetime(copy self)
    package func answer(
        ofProduct name: Span<UInt8>, at instant: Int64, orNow nowMilliseconds: Int64,
        under catalog: CompiledCatalog, in world: Int
    ) -> ProductAnswer? {
        guard let index = index(ofProduct: name) else { return nil }
        let grants = grants(ofProductAt: index)
        let instant = instant > 0 ? instant : max(nowMilliseconds, newestSignedDate)
        let policy = catalog.policy(for: name, in: world)
        return ProductAnswer(grants.quickDecision(at: instant, under: policy), of: grants)
    }

    /// Whether every offset lies within the bytes: bytes from disk are not believed before.
    package var isWellFormed: Bool {
        guard bytes.count >= SnapshotLayout.headerByteCount,
            load32(8) == SnapshotLayout.layout || isLong,
            productCount <= (bytes.count - SnapshotLayout.headerByteCount)
                / SnapshotLayout.productByteCount
        else { return false }
        for index in 0..<productCount {
            let entry = SnapshotLayout.headerByteCount + index * SnapshotLayout.productByteCount
            let nameEnd = Int(load32(entry)) + Int(load32(entry + 4))
            let count = Int(load32(entry + 12))
            let grantsEnd = Int(load32(entry + 8)) + count * SnapshotLayout.grantByteCount
            guard nameEnd <= bytes.count, grantsEnd <= bytes.count,
                grants(ofProductAt: index).isWellFormed
            else { return false }
        }
        return !isLong || isLongWellFormed
    }

    private func load64(_ offset: Int) -> Int64 { loadInt64(bytes, at: offset) }
    private func load32(_ offset: Int) -> UInt32 { loadUInt32(bytes, at: offset) }
}

/// The answer about one product, with the grant behind it.
package struct ProductAnswer: ~Escapable {
    /// Granted or why not.
    package let decision: AccessDecision
    /// The ownership of the transaction behind it; not specified without one.
    package let ownership: Ownership
    /// That transaction; empty without one.
    package let transactionID: Span<UInt8>
    /// Its chain.
    package let originalTransactionID: Span<UInt8>

    /// The answer that rests on `decision`, which is one of these grants'.
    @_lifetime(copy grants)
    @inline(__always)
    package init(_ decision: AccessDecision, of grants: borrowing GrantsView) {
        self.decision = decision
        if decision.grantIndex >= 0 {
            ownership = grants.ownership(at: decision.grantIndex)
            transactionID = grants.transactionID(at: decision.grantIndex)
            originalTransactionID = grants.originalTransactionID(at: decision.grantIndex)
        } else {
            ownership = .unspecified
            transactionID = Span()
            originalTransactionID = Span()
        }
    }
}

/// The grants of one product within a snapshot.
package struct GrantsView: GrantList, ~Escapable {
    private let bytes: Span<UInt8>
    private let offset: Int
    /// How many there are.
    package let count: Int

    @_lifetime(copy bytes)
    init(bytes: Span<UInt8>, offset: Int, count: Int) {
        self.bytes = bytes
        self.offset = offset
        self.count = count
    }

    @inline(__always)
    private func position(_ index: Int) -> Int {
        precondition(index >= 0 && index < count)
        return offset + index * SnapshotLayout.grantByteCount
    }

    package func grant(at index: Int) -> Grant {
        let position = position(index)
        let kinds = loadUInt32(bytes, at: position + 72)
        var grant = Grant(
            type: ProductType(code: UInt8(truncatingIfNeeded: kinds)),
            ownership: Ownership(code: UInt8(truncatingIfNeeded: kinds >> 8)),
            start: loadInt64(bytes, at: position))
        grant.end = loadInt64(bytes, at: position + 8)
        grant.graceEnd = loadInt64(bytes, at: position + 16)
        grant.revokedFrom = loadInt64(bytes, at: position + 24)
        grant.overriddenFrom = loadInt64(bytes, at: position + 32)
        grant.suspendedFrom = loadInt64(bytes, at: position + 40)
        grant.suspendedFromWhenProratedKept = loadInt64(bytes, at: position + 48)
        grant.upgradedFrom = loadInt64(bytes, at: position + 56)
        grant.revocationReason =
            AccessReason(rawValue: UInt8(truncatingIfNeeded: kinds >> 16)) ?? .unspecified
        grant.flags = Grant.Flags(rawValue: UInt8(truncatingIfNeeded: kinds >> 24))
        return grant
    }

    /// The ownership of the grant at `index`.
    @inline(__always)
    package func ownership(at index: Int) -> Ownership {
        let kinds = loadUInt32(bytes, at: position(index) + 72)
        return Ownership(code: UInt8(truncatingIfNeeded: kinds >> 8))
    }

    /// The same as `fullDecision`; where only the newest grant can matter, which is the rule, it is
    /// read once and no generic code runs.
    @inline(__always)
    package func quickDecision(at instant: Int64, under policy: ProductPolicy) -> AccessDecision {
        guard count > 0, endOfRest(after: 0) <= instant else {
            return fullDecision(at: instant, under: policy)
        }
        let grant = grant(at: 0)
        guard grant.start <= instant else { return fullDecision(at: instant, under: policy) }
        let reason = grant.reason(at: instant, under: policy)
        guard reason.isGranted else { return AccessDecision(reason: reason, grantIndex: 0) }
        let end = grant.interval(under: policy).stop
        return AccessDecision(reason: reason, grantIndex: 0, validUntil: end == .max ? 0 : end)
    }

    @inline(__always)
    package func endOfRest(after index: Int) -> Int64 {
        loadInt64(bytes, at: position(index) + 64)
    }

    /// The transaction behind the grant at `index`.
    @inline(__always)
    @_lifetime(copy self)
    package func transactionID(at index: Int) -> Span<UInt8> {
        let position = position(index)
        let start = Int(loadUInt32(bytes, at: position + 76))
        return bytes.extracting(start..<start + Int(loadUInt32(bytes, at: position + 80) & 0xFFFF))
    }

    /// The chain of the grant at `index`.
    @inline(__always)
    @_lifetime(copy self)
    package func originalTransactionID(at index: Int) -> Span<UInt8> {
        let position = position(index)
        let lengths = loadUInt32(bytes, at: position + 80)
        let start = Int(loadUInt32(bytes, at: position + 76)) + Int(lengths & 0xFFFF)
        return bytes.extracting(start..<start + Int(lengths >> 16))
    }

    var isWellFormed: Bool {
        for index in 0..<count {
            let position = position(index)
            let lengths = loadUInt32(bytes, at: position + 80)
            let end =
                Int(loadUInt32(bytes, at: position + 76)) + Int(lengths & 0xFFFF)
                + Int(lengths >> 16)
            guard end <= bytes.count else { return false }
        }
        return true
    }
}

/// Eight little-endian bytes; one check, one load.
@inline(__always)
func loadInt64(_ bytes: Span<UInt8>, at offset: Int) -> Int64 {
    precondition(offset >= 0 && offset <= bytes.count &- 8)
    return unsafe bytes.withUnsafeBytes {
        Int64(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: offset, as: Int64.self))
    }
}

/// Four little-endian bytes; one check, one load.
@inline(__always)
func loadUInt32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= bytes.count &- 4)
    return unsafe bytes.withUnsafeBytes {
        UInt32(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
