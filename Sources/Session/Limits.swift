/// What one connection may claim. Every queue of a session ends at one of these.
package struct Limits: Equatable, Sendable {
    /// The largest frame taken and sent, in bytes; the prefix does not count. `limits.max-frame`.
    package var frameByteCountMax = 1 << 20
    /// Requests of one connection being worked on, parked and deferred ones among them. Beyond it
    /// a request is refused, RESOURCE_EXHAUSTED. `limits.max-inflight`.
    package var inFlightCountMax = 1024
    /// Bytes of the frames of those requests. Beyond it no further frame is taken until some are
    /// answered: 8 MiB are a thousand notifications, and no thousand frames of 1 MiB.
    package var inFlightByteCountMax = 8 << 20
    /// Bytes of frames parked until a revision comes. Beyond it a request is refused. 256 KiB are
    /// two thousand checks; all of them are answered in one go, and an answer can be several times
    /// as long as its check.
    package var parkedByteCountMax = 256 << 10
    /// Checks in one batch. `limits.max-batch`.
    package var batchCountMax = 1000
    /// Used when a request names no timeout, in milliseconds. `limits.default-deadline`.
    package var timeoutMillisecondsDefault: Int64 = 5000
    /// A longer timeout counts as this, in milliseconds. `limits.max-deadline`.
    package var timeoutMillisecondsMax: Int64 = 60_000
    /// With this many bytes of answers waiting for the peer no further frame is taken.
    package var outputHighWaterByteCount = 256 << 10
    /// Below this many bytes frames are taken again.
    package var outputLowWaterByteCount = 64 << 10
    /// With this many bytes of answers waiting no heavy read (a whole customer) is started.
    package var heavyReadOutputByteCountMax = 64 << 10
    /// A TLS handshake must be over within this many milliseconds of the connection's start.
    package var handshakeMillisecondsMax: Int64 = 10_000
    /// A frame begun must be whole within this many milliseconds.
    package var frameMillisecondsMax: Int64 = 10_000
    /// A peer that has not taken `writeProgressByteCount` of what waits for it, nor all of it,
    /// within this many milliseconds is given up.
    package var writeStallMillisecondsMax: Int64 = 30_000
    /// Half a kilobyte a second is a connection; a byte now and then is somebody who holds memory.
    package var writeProgressByteCount = 16 << 10
    /// After the last answer, how long a peer that goes on sending is listened to, in milliseconds:
    /// a close with unread input would destroy the answer on its way. Within a second all is over.
    package var lingerMillisecondsMax: Int64 = 500

    /// The defaults.
    package init() {}

    /// Traps where two limits contradict each other; called once, at start.
    package func precheck() {
        precondition(frameByteCountMax >= 1 && frameByteCountMax <= 1 << 30)
        precondition(inFlightCountMax >= 1 && batchCountMax >= 1)
        precondition(inFlightByteCountMax >= 1 && parkedByteCountMax >= 1)
        precondition(0 < timeoutMillisecondsDefault)
        precondition(timeoutMillisecondsDefault <= timeoutMillisecondsMax)
        precondition(0 < outputLowWaterByteCount)
        precondition(outputLowWaterByteCount <= outputHighWaterByteCount)
        precondition(0 < heavyReadOutputByteCountMax)
        precondition(0 < frameMillisecondsMax && 0 < writeStallMillisecondsMax)
        precondition(0 < lingerMillisecondsMax && 0 < handshakeMillisecondsMax)
    }

    /// The deadline of a request that came at `nowMilliseconds` and asks for `timeoutMilliseconds`.
    package func deadline(
        timeoutMilliseconds: UInt32, at nowMilliseconds: Int64
    ) -> Int64 {
        let timeout =
            timeoutMilliseconds == 0
            ? timeoutMillisecondsDefault : min(Int64(timeoutMilliseconds), timeoutMillisecondsMax)
        return nowMilliseconds + timeout
    }
}
