internal import Service
internal import Wire

/// What a connection beyond a limit is told.
enum ConnectionRefusal {
    /// Too many connections in all.
    static let tooManyConnections = frame("this server has too many connections")
    /// Too many of one peer.
    static let tooManyOfPeer = frame("this peer has too many connections")
    /// All connections hold too much, and this one more than its share.
    static let tooMuchBuffered = frame("this server holds too much for its connections")

    /// A whole frame with id 0: RESOURCE_EXHAUSTED, OVERLOADED.
    private static func frame(_ message: String) -> [UInt8] {
        var response = Response(id: 0, result: nil)
        let refusal = Refusal(.overloaded, message, retryAfterMilliseconds: 1_000)
        response.status = .init(rawValue: refusal.status.rawValue)
        response.reason = Text(refusal.reason.rawValue)
        response.message = Text(refusal.message)
        response.retryAfterMilliseconds = refusal.retryAfterMilliseconds
        var output = OutputBuffer()
        do throws(WireError) {
            try response.encodeFrame(
                into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        } catch {
            preconditionFailure("a refusal is a short message: \(error)")
        }
        return Text(copying: output.bytes).bytes
    }
}
