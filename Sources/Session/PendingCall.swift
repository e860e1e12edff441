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
}

/// A call that leaves its connection, to come back as an answer.
package struct PendingCall: Sendable {
    /// Goes with the call wherever it goes.
    package let tag: CallTag
    /// When the client stops waiting, in milliseconds of the loop's clock.
    package let deadlineMilliseconds: Int64
    /// What is to be done.
    package let call: SessionCall
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
