/// Why access is granted or not; the raw values are those of the wire and of stored snapshots.
@usableFromInline
package enum AccessReason: UInt8, Hashable, CaseIterable, Sendable, BitwiseCopyable {
    case unspecified = 0
    /// A transaction grants.
    case active = 1
    /// Only the grace period of a failed renewal carries the access.
    case gracePeriod = 2
    /// Nothing is known under this name.
    case unknownCustomer = 10
    /// The customer is known and has no transaction of the product.
    case noPurchase = 11
    /// The period is over.
    case expired = 12
    /// The period is over and Apple retries the payment, without a grace period.
    case billingRetry = 13
    /// The customer moved on to another product of the group.
    case upgraded = 14
    /// The payment was reversed.
    case refunded = 15
    /// The payment behind a shared copy was reversed.
    case familyRefunded = 16
    /// The sharing ended; no payment was reversed.
    case familyLeft = 17
    /// The buyer in the family was refunded; the copy's own revocation is to come.
    case familySuspended = 18
    /// No transaction of the product has begun.
    case notStarted = 19
    /// A shared copy of a type that cannot be shared.
    case notShareable = 20
    /// A consumable is never an entitlement.
    case consumable = 21
    /// A field or a setting that the answer needs is missing.
    case incomplete = 22
    /// An assigned seat was taken back.
    case assignmentEnded = 23

    /// Whether access is granted.
    @inlinable
    package var isGranted: Bool {
        // A switch: `==` of another module's cases goes through the witness of a protocol.
        switch self {
        case .active, .gracePeriod: true
        default: false
        }
    }
}
