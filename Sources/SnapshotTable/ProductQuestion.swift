package import Entitlements

/// A question about one product of a customer who is called by his own name, as one of many that
/// are answered together: plain memory, its texts are ranges of what was received.
package struct ProductQuestion: Sendable, BitwiseCopyable {
    /// What the customer is found by; see `CustomerTable.hash`.
    package var hash: UInt64
    /// His name.
    package var name: TextRange
    /// The product's id.
    package var product: TextRange
    /// The instant asked about, in ms since 1970; 0: now.
    package var instant: Int64
    /// What serving the grant costs, for the meter.
    package var units: UInt64
    /// The position of the world among those configured: its catalog.
    package var world: Int
    /// The store's number of the world.
    package var scope: UInt16
    /// Whether it is for memory to answer; others are left out.
    package var isForMemory: Bool

    /// No question.
    package init() {
        hash = 0
        name = TextRange()
        product = TextRange()
        instant = 0
        units = 0
        world = 0
        scope = 0
        isForMemory = false
    }
}

/// What memory says to a `ProductQuestion`.
@safe @usableFromInline package struct ProductVerdict: BitwiseCopyable {
    /// Whether it says anything; else the store is to be asked.
    package var isAnswered: Bool
    /// Granted or why not.
    package var reason: AccessReason
    /// The ownership of the transaction behind it; not specified without one.
    package var ownership: Ownership
    /// When the answer flips by itself, in ms since 1970; 0: never.
    package var validUntil: Int64
    /// Where the id of the transaction stands, and that of its chain right behind it; nil without
    /// one. In the table's memory: it lives until the reader leaves its batch.
    @usableFromInline var ids: UnsafePointer<UInt8>?
    @usableFromInline var transactionIDCount: UInt16
    @usableFromInline var originalTransactionIDCount: UInt16

    /// No answer.
    package init() {
        isAnswered = false
        reason = .unspecified
        ownership = .unspecified
        validUntil = 0
        unsafe ids = nil
        transactionIDCount = 0
        originalTransactionIDCount = 0
    }

    /// Granted by the transaction whose id stands at `ids`, with that of its chain behind it.
    @inline(__always)
    init(
        activeUntil end: Int64, _ ownership: Ownership, ids: UnsafePointer<UInt8>,
        _ transactionIDCount: UInt16, _ originalTransactionIDCount: UInt16
    ) {
        isAnswered = true
        reason = .active
        self.ownership = ownership
        validUntil = end == .max ? 0 : end
        unsafe self.ids = ids
        self.transactionIDCount = transactionIDCount
        self.originalTransactionIDCount = originalTransactionIDCount
    }

    /// An answer without a transaction.
    @inline(__always)
    init(_ reason: AccessReason) {
        self.init()
        isAnswered = true
        self.reason = reason
    }
}

extension ProductVerdict {
    /// What a snapshot says.
    @inline(__always)
    init(_ answer: borrowing ProductAnswer) {
        isAnswered = true
        reason = answer.decision.reason
        ownership = answer.ownership
        validUntil = answer.decision.validUntil
        transactionIDCount = UInt16(truncatingIfNeeded: answer.transactionID.count)
        originalTransactionIDCount = UInt16(
            truncatingIfNeeded: answer.originalTransactionID.count)
        unsafe ids = unsafe answer.transactionID.withUnsafeBufferPointer { $0.baseAddress }
    }

    /// The id of the transaction behind it; empty without one.
    @inlinable
    package var transactionID: Span<UInt8> {
        @_lifetime(borrow self)
        @inline(__always)
        get {
            guard let start = unsafe ids else { return Span() }
            let span = unsafe Span(_unsafeStart: start, count: Int(transactionIDCount))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The id of its chain.
    @inlinable
    package var originalTransactionID: Span<UInt8> {
        @_lifetime(borrow self)
        @inline(__always)
        get {
            guard let start = unsafe ids else { return Span() }
            let span = unsafe Span(
                _unsafeStart: start + Int(transactionIDCount),
                count: Int(originalTransactionIDCount))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }
}
