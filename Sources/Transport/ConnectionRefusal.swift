internal import Service
internal import Wire

/// What a connection beyond the limit is told.
enum ConnectionRefusal {
    /// A whole frame with id 0: RESOURCE_EXHAUSTED, OVERLOADED.
    static let frame: [UInt8] = {
        var response = Response(id: 0, result: nil)
        let refusal = Refusal(
            .overloaded, "this server has too many connections", retryAfterMilliseconds: 1_000)
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
    }()
}
