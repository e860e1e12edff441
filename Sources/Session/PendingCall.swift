package import Entitlements
package import Service

/// Work that does not belong on a loop.
package enum SessionCall: Sendable {
    /// Verify, then commit. Taken by a worker, then by the commit thread.
    case write(WriteCall)
    /// Read the store. Taken by a worker.
    case read(ReadCall)
    /// Ask Apple, then perhaps commit. Taken by a thread that may wait for the network.
    case remote(RemoteCall)
}

/// What an answer needs to find its request again.
package struct CallTag: Hashable, Sendable {
    /// The client's id of the request.
    package let requestID: UInt64
    /// Bytes of the request's frame.
    package let byteCount: Int
    /// Whether it reads a whole customer.
    package let isHeavyRead: Bool
    /// What it asks for.
    package var method = CallMethod.other
    /// When its batch of requests was read, by the monotonic clock, in microseconds.
    package var startedMicroseconds: UInt64 = 0
    /// What is written down when it has ended; nil: nothing.
    var audited: AuditedCall?
}

/// A call that leaves its connection, to come back as an answer.
package struct PendingCall: Sendable {
    /// Goes with the call wherever it goes.
    package let tag: CallTag
    /// When the client stops waiting, in milliseconds of the loop's clock.
    package let deadlineMilliseconds: Int64
    /// What is to be done.
    package let call: SessionCall
    /// The apps and environments that the caller may speak of; nil: all. Which one signed data are
    /// of is known when they are verified: ask `checkScope` before anything is stored.
    package var allowedScopes: [Scope]?

    /// Applies the caller's limits to verified data.
    ///
    /// - Parameter scope: What they are of; nil: of no app.
    /// - Throws: `Refusal` with APP_NOT_ALLOWED.
    package func checkScope(_ scope: Scope?) throws(Refusal) {
        guard let allowedScopes else { return }
        guard let scope, allowedScopes.contains(where: { $0.isSame(as: scope) }) else {
            throw .appNotAllowed
        }
    }

    /// What of an answer the caller may see: a view of one app's queue also carries counts of the
    /// whole server, which are left out for whoever is limited to some apps.
    package func limited(_ reply: ReadReply) -> ReadReply {
        guard allowedScopes != nil, case .reconciliation(var view) = reply else { return reply }
        (view.succeededCount, view.failedCount, view.lastFailure) = (0, 0, nil)
        return .reconciliation(view)
    }
}

extension Scope {
    /// Byte by byte: `==` of its text takes canonical equivalents for equal.
    fileprivate func isSame(as other: Scope) -> Bool {
        environment == other.environment && bundleID.utf8.elementsEqual(other.bundleID.utf8)
    }
}

/// What became of a call.
package enum CallReply: Sendable {
    /// Committed, durable and visible.
    case written(WriteReply)
    /// Read.
    case read(ReadReply)
    /// Asked of Apple, and committed where it changed something.
    case remote(RemoteReply)
    /// Not carried out.
    case refused(Refusal)
}
