package import Entitlements

/// A question about access, as spans into the request; identifiers are valid already.
package struct AccessQuery: ~Escapable {
    /// What the question is about.
    package enum Subject: Sendable {
        case product
        /// A name from the catalog: the OR over its products.
        case entitlement
    }

    let scope: ScopeIndex
    let kind: IdentityKind
    let name: Span<UInt8>
    let subject: Subject
    let subjectName: Span<UInt8>
    let atMilliseconds: Int64
    let nowMilliseconds: Int64

    /// A question.
    ///
    /// - Parameters:
    ///   - scope: the world.
    ///   - kind: what kind of name the customer is given by; not `.transaction`.
    ///   - name: that name; tokens in lower case.
    ///   - subject: what is asked about.
    ///   - subjectName: its name.
    ///   - atMilliseconds: the instant, in ms since 1970; 0: now.
    ///   - nowMilliseconds: what the clock said when the batch of this question was read; 0: ask
    ///     the clock.
    @_lifetime(copy name, copy subjectName)
    package init(
        scope: ScopeIndex, kind: IdentityKind, name: Span<UInt8>, subject: Subject,
        subjectName: Span<UInt8>, atMilliseconds: Int64, nowMilliseconds: Int64 = 0
    ) {
        self.scope = scope
        self.kind = kind
        self.name = name
        self.subject = subject
        self.subjectName = subjectName
        // The last of all instants stands for "never" in grants.
        self.atMilliseconds = min(atMilliseconds, .max - 1)
        self.nowMilliseconds = nowMilliseconds
    }
}

/// The answer, but for the ids, which stay spans.
package struct AccessAnswer: Hashable, Sendable, BitwiseCopyable {
    /// Granted or why not.
    package var reason: AccessReason
    /// The ownership of the transaction behind it.
    package var ownership: Ownership
    /// When the answer flips by itself, in ms; 0: never.
    package var validUntil: Int64
    /// The last committed revision that this answer has seen.
    package var revision: UInt64
}
