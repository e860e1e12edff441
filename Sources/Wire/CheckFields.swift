/// Where some bytes lie in a frame's body; 8 bytes, so that a decoded check stays small.
@usableFromInline package struct ByteRange: Hashable, Sendable, BitwiseCopyable {
    /// Index of the first byte.
    @usableFromInline package var start: UInt32
    /// How many bytes.
    @usableFromInline package var byteCount: UInt32

    /// No bytes.
    package static let empty = ByteRange(start: 0, byteCount: 0)

    /// `byteCount` bytes from `start` on.
    @inlinable
    package init(start: Int, byteCount: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.byteCount = UInt32(truncatingIfNeeded: byteCount)
    }

    /// Whether there are no bytes.
    @inlinable
    package var isEmpty: Bool { byteCount == 0 }

    /// Behind the last byte.
    @inlinable
    var end: UInt32 { start &+ byteCount }

    /// The indices.
    @inlinable
    package var indices: Range<Int> { Int(start)..<Int(start) &+ Int(byteCount) }
}

extension Span where Element == UInt8 {
    /// The bytes at `range`, which must lie within the span.
    @inlinable
    @_lifetime(copy self)
    package func extracting(_ range: ByteRange) -> Span<UInt8> { extracting(range.indices) }
}

/// One check as the span codec gives it: numbers, and ranges into the frame's body.
package struct CheckFields: Equatable, Sendable {
    /// Which of a customer's names is given. The numbers are the fields' numbers in `CustomerRef`.
    package enum CustomerKind: UInt8, Sendable {
        /// None: the request names nobody.
        case none = 0
        /// The app backend's own user id.
        case customerID = 1
        /// A UUID; compares without case.
        case appAccountToken = 2
        /// Apple's appTransactionId.
        case appTransactionID = 3
        /// Apple's originalTransactionId.
        case originalTransactionID = 4

        /// The kind whose field in `CustomerRef` has this tag; nil where there is none.
        @inline(__always)
        init?(fieldTag tag: UInt8) {
            switch tag {
            case 0x0A: self = .customerID
            case 0x12: self = .appAccountToken
            case 0x1A: self = .appTransactionID
            case 0x22: self = .originalTransactionID
            default: return nil
            }
        }
    }

    /// What is asked about. The numbers are the fields' numbers in `CheckAccessRequest`.
    package enum SubjectKind: UInt8, Sendable {
        /// Nothing: the request is incomplete.
        case none = 0
        /// A product by its App Store id.
        case product = 2
        /// A name from the catalog.
        case entitlement = 3
    }

    /// Which of the customer's names `customer` is.
    package var customerKind = CustomerKind.none
    /// The customer's name, not judged.
    package var customer = ByteRange.empty
    /// What `subject` is.
    package var subjectKind = SubjectKind.none
    /// The product or entitlement, not judged.
    package var subject = ByteRange.empty
    /// The instant asked about, in milliseconds since 1970; 0 = now.
    package var atMilliseconds: Int64 = 0
    /// Answer only from this revision on; 0 = any.
    package var minRevision: UInt64 = 0
    /// The app's bundle id, not judged; empty = the only one.
    package var bundleID = ByteRange.empty
    /// The number of the environment as it came.
    package var environment: Int32 = 0
    /// What serving this grant costs.
    package var units: UInt64 = 0

    /// A check of nothing.
    package init() {}
}

/// What keeps a check from being asked, by the contract's rules; the first that holds.
package enum CheckFault: UInt8, Sendable, BitwiseCopyable {
    /// It can be asked, if its scope is known.
    case none
    /// The customer is not named, or by no identifier.
    case customer
    /// Nothing is asked about.
    case missingSubject
    /// What is asked about is no identifier.
    case subject
    /// The instant is before 1970.
    case instant
}

extension CheckFields {
    /// Judges everything but the scope. `text` is what the ranges point into.
    package func fault(in text: Span<UInt8>) -> CheckFault {
        // Every range lies within what was received; see `FieldReader.range`.
        precondition(Int(customer.start) &+ Int(customer.byteCount) <= text.count)
        precondition(Int(subject.start) &+ Int(subject.byteCount) <= text.count)
        return unsafe text.withUnsafeBytes { text in unsafe fault(in: text) }
    }

    /// The same, where the ranges are known to lie within `text`.
    ///
    /// Encoders write what is asked about right behind the customer: then one look tells that both
    /// are ASCII.
    @inline(__always)
    func fault(in text: UnsafeRawBufferPointer) -> CheckFault {
        let lengthEnd = UInt32(Identifier.byteCountMax)
        let isUsual =
            customerKind != .none && subjectKind != .none && customer.byteCount &- 1 < lengthEnd
            && subject.byteCount &- 1 < lengthEnd
            && subject.start &- customer.start &- customer.byteCount < 8
        if isUsual, unsafe Identifier.isASCII(text, from: customer.start, to: subject.end) {
            return atMilliseconds < 0 ? .instant : .none
        }
        return unsafe firstFault(in: text)
    }

    /// One rule after the other.
    @inline(never)
    private func firstFault(in text: UnsafeRawBufferPointer) -> CheckFault {
        guard customerKind != .none, unsafe Identifier.isValid(text, at: customer) else {
            return .customer
        }
        guard subjectKind != .none else { return .missingSubject }
        guard unsafe Identifier.isValid(text, at: subject) else { return .subject }
        return atMilliseconds < 0 ? .instant : .none
    }
}

/// A request with one check in it.
package struct CheckEnvelope: Equatable, Sendable {
    /// Chosen by the client.
    package var id: UInt64 = 0
    /// How long the client waits, in milliseconds; 0 = the server's default.
    package var timeoutMilliseconds: UInt32 = 0
    /// W3C trace context; empty = none.
    package var traceparent = ByteRange.empty
    /// The caller's API key; empty = none.
    package var apiKey = ByteRange.empty
    /// The check.
    package var check = CheckFields()

    /// An empty request.
    package init() {}
}
