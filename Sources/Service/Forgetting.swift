package import Entitlements
import Storage
import Synchronization

/// Asks for a customer to be forgotten: his names and what Apple signed of him go, what counts
/// stays.
package struct ForgetRequest: Hashable, Sendable {
    /// Who.
    package var customer: CustomerReference
    /// Whether only what would go is told.
    package var isDryRun: Bool
    /// The world.
    package var scope: ScopeIndex

    /// A request.
    package init(customer: CustomerReference, isDryRun: Bool = false, scope: ScopeIndex) {
        self.customer = customer
        self.isDryRun = isDryRun
        self.scope = scope
    }
}

/// Asks how far it is with somebody who was forgotten.
package struct ForgottenQuery: Hashable, Sendable {
    /// `ForgetReply.number`.
    package var number: UInt64
    /// The world.
    package var scope: ScopeIndex

    /// A question.
    package init(number: UInt64, scope: ScopeIndex) {
        self.number = number
        self.scope = scope
    }
}

/// What went with a customer, or would go, and what stays of him.
package struct ForgetReply: Hashable, Sendable {
    /// The store's number of him: from now on the only thing that he is called.
    package var number: UInt64
    /// The names that would go, as `kind:name`, sorted; of a dry run only.
    package var names: [String] = []
    /// How many names went.
    package var nameCount = 0
    /// How many transactions stay, without names.
    package var transactionCount = 0
    /// How many signed payloads went, notifications included.
    package var payloadCount = 0
    /// How many entries of the store's audit named him.
    package var auditCount = 0
    /// Whether others share his household: he stays in it, as a number.
    package var isInHousehold = false
    /// Whether he waited for a fetch from Apple, which is dropped.
    package var wasQueued = false
    /// Whether the bytes of all that have left the disk.
    package var isErased = false
    /// The revision that forgot him.
    package var revision: UInt64 = 0

    /// Nothing yet.
    package init(number: UInt64) { self.number = number }
}

// MARK: - Bytes on the disk

/// The ranges that are to leave the disk, to the key; those in the store are wider, for they name
/// nobody.
final class ErasureList: Sendable {
    private let ranges = Mutex<[CustomerKey: [KeyRange]]>([:])

    init() {}

    /// Adds what a commit has removed.
    func add(_ more: [CustomerKey: [KeyRange]]) {
        ranges.withLock { $0.merge(more) { $0 + $1 } }
    }

    /// What of a customer is known to the key; nil where the store's mark is all there is.
    func take(_ key: CustomerKey) -> [KeyRange]? {
        ranges.withLock { $0.removeValue(forKey: key) }
    }
}

extension EntitlementService {
    /// A commit has forgotten customers; the commit thread.
    func forgot(_ erasures: [CustomerKey: [KeyRange]]) {
        guard !erasures.isEmpty else { return }
        self.erasures.add(erasures)
        for key in erasures.keys.sorted(by: { $0.number < $1.number }) {
            pastAnswers.forget(key)
            configuration.onNotice(.forgotten(number: key.number, isErased: false))
        }
    }

    /// How far it is with somebody who was forgotten.
    ///
    /// - Throws: UNKNOWN_CUSTOMER where nobody of this number was.
    func forgotten(_ query: ForgottenQuery) throws(Refusal) -> ForgetReply {
        let key = CustomerKey(scope: world(query.scope).number, number: query.number)
        return try readingStore { (workspace, revision) throws(LedgerFailure) in
            guard let record = try workspace.record(of: key), record.isForgotten else {
                throw .refused(Refusal(.unknownCustomer, "nobody of this number was forgotten"))
            }
            var reply = ForgetReply(number: query.number)
            reply.isErased =
                try workspace.value(for: Key.erasure(of: key), in: .meta) == nil
            reply.revision = revision
            return reply
        }
    }

    /// Removes from the disk what forgotten customers left there, until nothing is left to remove,
    /// also what an earlier process has not come to.
    ///
    /// A thread of its own, one at a time: it may take minutes. Commits go on.
    ///
    /// - Returns: Whether nothing is left; else it was told why, and is to be tried again.
    package func eraseForgotten() -> Bool {
        do throws(StorageError) {
            while true {
                let marks = try erasureMarks()
                guard !marks.isEmpty else { return true }
                var ranges: [KeyRange] = []
                for (key, mark) in marks {
                    let known = erasures.take(key)
                    ranges += try known == nil ? RecordCodec.decodeRanges(mark) : []
                    ranges += known ?? []
                }
                try store.erase(ranges)
                for (key, mark) in marks where try end(key, mark) {
                    configuration.onNotice(.forgotten(number: key.number, isErased: true))
                }
            }
        } catch {
            configuration.onNotice(.notErased(message: "\(error)"))
            return false
        }
    }

    private func erasureMarks() throws(StorageError) -> [(key: CustomerKey, mark: [UInt8])] {
        var marks: [(key: CustomerKey, mark: [UInt8])] = []
        try store.scan(.meta, prefix: Key.erasures, from: nil, reversed: false) { key, value in
            if let customer = Key.customer(ofErasure: key) { marks.append((customer, value)) }
            return true
        }
        return marks
    }

    /// Takes a mark off, unless a commit has set another one since; whether it is off.
    private func end(_ key: CustomerKey, _ mark: [UInt8]) throws(StorageError) -> Bool {
        // A commit holds the lock while it writes.
        try reader.publication.withLock { (_) throws(StorageError) in
            let markKey = Key.erasure(of: key)
            guard try store.value(for: markKey, in: .meta) == mark else { return false }
            var changes = ChangeSet()
            changes.delete(markKey, in: .meta)
            try store.commit(changes)
            return true
        }
    }
}
