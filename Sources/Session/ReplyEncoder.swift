internal import Entitlements
internal import Service
internal import Wire

/// What the server says of its own release.
package struct ServerIdentity: Hashable, Sendable {
    /// The version of the wire contract.
    package static let protocolVersion: UInt32 = 1

    /// The release.
    package var version: String
    /// The commit that it was built from; empty = not known.
    package var commit: String

    /// A release.
    package init(version: String, commit: String) {
        self.version = version
        self.commit = commit
    }
}

/// Makes frames of answers that were found beside the loops, so that the loops only copy them: a
/// customer of a thousand transactions is about a megabyte.
///
/// One per thread.
package final class ReplyEncoder {
    /// Building a message takes its own bytes, and more for its many small fields.
    private let arena: MessageArena
    private let limits: Limits
    private var output = OutputBuffer()

    /// An encoder under these limits.
    package init(limits: Limits) {
        self.limits = limits
        arena = MessageArena(byteCountMax: max(4 << 20, 8 * limits.frameByteCountMax))
    }

    /// The frame that answers the call of `tag`; `Responder.completed` takes it.
    ///
    /// What does not fit a frame is cut where the rest can be asked for, and otherwise refused.
    package func frame(for reply: CallReply, _ tag: CallTag) -> [UInt8] {
        output.removeAll()
        switch reply {
        case .written(let reply): append(ReplyMapping.response(tag.requestID, reply))
        case .customer(let view): append(view, tag.requestID)
        case .refused(let refusal): append(ReplyMapping.response(tag.requestID, refusal))
        }
        return Self.copy(output)
    }

    private static func copy(_ output: borrowing OutputBuffer) -> [UInt8] {
        Text(copying: output.bytes).bytes
    }

    private func append(_ response: Response) {
        ReplyMapping.append(response, to: &output, in: arena, limits)
    }

    /// Appends as much of a page as a frame holds; the token then names the last one kept.
    private func append(_ view: CustomerView, _ requestID: UInt64) {
        var view = view
        while true {
            let response = Response(
                id: requestID, result: .getCustomer(ReplyMapping.customer(view)))
            do throws(WireError) {
                return try response.encodeFrame(
                    into: &output, in: arena, frameByteCountMax: limits.frameByteCountMax)
            } catch {
                guard view.shorten() else { return append(response) }
            }
        }
    }
}

extension CustomerView {
    /// Leaves out half of the page's transactions, or of the oldest notifications, or of the oldest
    /// audit entries; false when there is nothing to leave out.
    fileprivate mutating func shorten() -> Bool {
        if transactions.count > 1 {
            transactions.removeLast(transactions.count / 2)
            nextPageToken = transactions.last?.transaction.transactionID ?? ""
        } else if !notifications.isEmpty {
            notifications.removeFirst((notifications.count + 1) / 2)
        } else if !audit.isEmpty {
            audit.removeFirst((audit.count + 1) / 2)
        } else {
            return false
        }
        return true
    }
}

extension ReplyMapping {
    /// Appends a response; where it does not fit a frame, a refusal that says so.
    static func append(
        _ response: Response, to output: inout OutputBuffer, in arena: MessageArena,
        _ limits: Limits
    ) {
        do throws(WireError) {
            try response.encodeFrame(
                into: &output, in: arena, frameByteCountMax: limits.frameByteCountMax)
        } catch {
            appendRefusal(response.id, .answerTooLarge(limits), to: &output, in: arena)
        }
    }

    /// Appends a refusal; its text is short whatever the limits.
    static func appendRefusal(
        _ requestID: UInt64, _ refusal: Refusal, to output: inout OutputBuffer,
        in arena: MessageArena
    ) {
        do throws(WireError) {
            try response(requestID, refusal).encodeFrame(
                into: &output, in: arena, frameByteCountMax: 1 << 20)
        } catch {
            preconditionFailure("a refusal is a short message: \(error)")
        }
    }
}
