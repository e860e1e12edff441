/// Why bytes could not be taken as frames or messages, or a message not be put into a frame.
package enum WireError: Error, Equatable, Sendable {
    /// A frame of no bytes: no message is that short.
    case emptyFrame
    /// A frame that announces `byteCount` bytes where at most `limit` are taken.
    case frameTooLarge(byteCount: Int, limit: Int)
    /// The body is no well-formed protobuf message; `offset` is where that showed.
    case malformedMessage(offset: Int)
    /// The message is well formed and unpacks to more than the `limit` bytes that one may take.
    case messageTooComplex(requestID: UInt64, limit: Int)
}

extension WireError: CustomStringConvertible {
    /// For people: what was found against what is allowed; never the bytes themselves.
    package var description: String {
        switch self {
        case .emptyFrame:
            "a frame of 0 bytes; a frame has at least 1"
        case .frameTooLarge(let byteCount, let limit):
            "a frame of \(byteCount) bytes; at most \(limit) are taken"
        case .malformedMessage(let offset):
            "no well-formed protobuf message (at byte \(offset) of the frame's body)"
        case .messageTooComplex(_, let limit):
            "a message that unpacks to more than \(limit) bytes"
        }
    }
}
