package import Entitlements
package import Service
import SnapshotTable
package import Storage

/// An answer about access with its ids as text.
package struct AccessVerdict: Hashable, Sendable {
    /// Granted or why not.
    package var reason: AccessReason
    /// The ownership of the transaction behind it.
    package var ownership: Ownership
    /// When the answer flips by itself, in ms; 0: never.
    package var validUntil: Int64
    /// The last committed revision that the answer has seen.
    package var revision: UInt64
    /// The product that the answer is about.
    package var productID: String
    /// The transaction behind it.
    package var transactionID: String
    /// Its chain.
    package var originalTransactionID: String

    /// Whether access is granted.
    package var isGranted: Bool { reason.isGranted }
}

/// A service called as a loop, a worker and the commit thread would call it, all on this thread.
package struct ServiceDesk<Store: EntitlementWriter & Sendable>: Sendable {
    /// The service behind it.
    package let service: EntitlementService<Store>
    private let reader: ReaderSlot

    /// A desk with a reader of its own.
    package init(_ service: EntitlementService<Store>) {
        self.service = service
        reader = service.reader.table.makeReader()
    }

    /// Verifies and commits one call in a group of its own.
    package func perform(_ call: WriteCall) -> Result<WriteReply, Refusal> {
        performGroup([call])[0]
    }

    /// Verifies each call and commits what passed as one group; results in the order of `calls`.
    package func performGroup(_ calls: [WriteCall]) -> [Result<WriteReply, Refusal>] {
        var events: [Event] = []
        var refusals: [Int: Refusal] = [:]
        for (index, call) in calls.enumerated() {
            do throws(Refusal) {
                events.append(try service.prepare(call))
            } catch {
                refusals[index] = error
            }
        }
        var committed = (events.isEmpty ? [] : service.commit(events))[...]
        return calls.indices.map { index in
            if let refusal = refusals[index] { return .failure(refusal) }
            return committed.removeFirst()
        }
    }

    /// Asks about access in a batch of its own.
    ///
    /// - Throws: what `checkAccess` throws.
    package func check(
        _ customer: CustomerReference, _ subject: String, at instant: Int64 = 0,
        isEntitlement: Bool = false, in scope: ScopeIndex
    ) throws(Refusal) -> AccessVerdict {
        service.reader.table.beginReading(reader)
        defer { service.reader.table.endReading(reader) }
        return try checkInBatch(
            customer, subject, at: instant, isEntitlement: isEntitlement, in: scope)
    }

    /// Asks several questions of one revision.
    ///
    /// - Throws: what `checkAccess` throws.
    package func checkTogether(
        _ customers: [CustomerReference], _ subject: String, at instant: Int64 = 0,
        in scope: ScopeIndex
    ) throws(Refusal) -> [AccessVerdict] {
        service.reader.table.beginReading(reader)
        defer { service.reader.table.endReading(reader) }
        return try service.reader.consistently { (_) throws(Refusal) in
            var verdicts: [AccessVerdict] = []
            for customer in customers {
                verdicts.append(
                    try checkInBatch(
                        customer, subject, at: instant, isEntitlement: false, in: scope))
            }
            return verdicts
        }
    }

    private func checkInBatch(
        _ customer: CustomerReference, _ subject: String, at instant: Int64, isEntitlement: Bool,
        in scope: ScopeIndex
    ) throws(Refusal) -> AccessVerdict {
        let identity = Identity(customer)
        let name = Array(identity.value.utf8)
        let subjectName = Array(subject.utf8)
        let query = AccessQuery(
            scope: scope, kind: identity.kind, name: name.span,
            subject: isEntitlement ? .entitlement : .product, subjectName: subjectName.span,
            atMilliseconds: instant)
        var verdict: AccessVerdict?
        try service.reader.checkAccess(query, reader: reader) {
            answer, product, transaction, original in
            verdict = AccessVerdict(
                reason: answer.reason, ownership: answer.ownership,
                validUntil: answer.validUntil, revision: answer.revision,
                productID: text(product), transactionID: text(transaction),
                originalTransactionID: text(original))
        }
        guard let verdict else { preconditionFailure("a check answers or throws") }
        return verdict
    }

    /// The configured world of `scope`; nil when it is none.
    package func scopeIndex(_ scope: Scope) -> ScopeIndex? {
        let bundleID = Array(scope.bundleID.utf8)
        return service.reader.scopeIndex(
            bundleID: bundleID.span, environment: Int32(scope.environment.rawValue))
    }
}

private func text(_ bytes: Span<UInt8>) -> String {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    return String(decoding: copy, as: UTF8.self)
}
