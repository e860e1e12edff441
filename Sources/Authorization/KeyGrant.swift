/// What a caller turned out to be. Small and without a reference: a connection keeps the last one.
package struct KeyGrant: Hashable, Sendable, BitwiseCopyable {
    /// Why nothing is granted.
    package enum Fault: UInt8, Hashable, Sendable, BitwiseCopyable {
        /// Something is.
        case none
        /// Neither a key nor a certificate that is known.
        case missing
        /// A key that is none, or whose secret is another: which of them is not said.
        case unknown
        /// It was taken until a while ago.
        case expired
        /// It is taken no more.
        case revoked
    }

    /// Why nothing is granted.
    package var fault: Fault
    /// What he may do.
    package var roles: Roles = []
    /// His record's position in the ring; -1: none.
    package var recordIndex: Int32 = -1
    /// Whether he may speak of some apps only.
    package var isLimited = false
    /// A bit for each of the first 64 worlds that he may speak of.
    package var nearScopes: UInt64 = 0
    /// From when on it is not taken any more, in ms since 1970; `.max`: never.
    package var expires = Int64.max

    /// Where no keys are configured, everybody may do everything.
    package static let everything = KeyGrant(fault: .none, roles: [.admin])
    /// Nothing is granted.
    package static func refused(_ fault: Fault) -> KeyGrant { KeyGrant(fault: fault) }

    /// What is wrong at an instant, in ms since 1970.
    @inline(__always)
    package func fault(at milliseconds: Int64) -> Fault {
        if case .none = fault, milliseconds >= expires { return .expired }
        return fault
    }
}
