internal import Entitlements
package import Service
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
        case .read(.customer(let view)): append(view, tag.requestID)
        case .read(let reply): append(ReplyMapping.response(tag.requestID, reply))
        case .remote(let reply): append(ReplyMapping.response(tag.requestID, reply))
        case .refused(let refusal): append(ReplyMapping.response(tag.requestID, refusal))
        }
        return Self.copy(output)
    }

    /// Asks `read` and gives the frame that answers the call of `tag`.
    ///
    /// A page of a list that does not fit a frame is asked for again with fewer entries: only
    /// `read` can say with which token the next page begins.
    package func frame(
        for call: ReadCall, _ tag: CallTag, read: (ReadCall) throws(Refusal) -> ReadReply
    ) -> [UInt8] {
        var call = call
        do throws(Refusal) {
            while true {
                let reply = try read(call)
                guard let entryCount = reply.entryCount else {
                    return frame(for: .read(reply), tag)
                }
                output.removeAll()
                do throws(WireError) {
                    try ReplyMapping.response(tag.requestID, reply).encodeFrame(
                        into: &output, in: arena, frameByteCountMax: limits.frameByteCountMax)
                    return Self.copy(output)
                } catch {
                    guard entryCount > 1 else { throw .answerTooLarge(limits) }
                    call.askForFewer(than: entryCount, after: error)
                }
            }
        } catch {
            return frame(for: .refused(error), tag)
        }
    }

    private static func copy(_ output: borrowing OutputBuffer) -> [UInt8] {
        Text(copying: output.bytes).bytes
    }

    /// Appends a response, with as many of its problems as a frame holds.
    private func append(_ response: Response) {
        let problems = response.problems
        var keptCount = problems.count
        var response = response
        while true {
            do throws(WireError) {
                return try response.encodeFrame(
                    into: &output, in: arena, frameByteCountMax: limits.frameByteCountMax)
            } catch {
                guard keptCount > 0 else {
                    return ReplyMapping.append(response, to: &output, in: arena, limits)
                }
                keptCount /= 2
                response.keep(keptCount, of: problems)
            }
        }
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

extension ReadReply {
    /// How many entries a page of a list has; nil for what is no list.
    fileprivate var entryCount: Int? {
        switch self {
        case .customers(let page): page.customers.count
        case .refunds(let page): page.refunds.count
        case .audit(let page): page.findings.count
        case .reconciliation(let view): view.refreshes.count
        case .customer, .family, .backup, .forgotten: nil
        }
    }
}

extension ReadCall {
    /// Asks for about as many entries as fit a frame, where `entryCount` of them did not.
    fileprivate mutating func askForFewer(than entryCount: Int, after error: WireError) {
        var countMax = entryCount / 2
        if case .frameTooLarge(let byteCount, let limit) = error {
            countMax = min(entryCount - 1, entryCount * limit / byteCount)
        }
        countMax = max(1, countMax)
        switch self {
        case .customers(var query, let since):
            query.countMax = countMax
            self = .customers(query, changedSince: since)
        case .refunds(var query):
            query.page.countMax = countMax
            self = .refunds(query)
        case .audit(var query):
            query.countMax = countMax
            self = .audit(query)
        case .reconciliation(var query):
            query.countMax = countMax
            self = .reconciliation(query)
        case .customer, .family, .backup, .forgotten:
            break
        }
    }
}

extension Response {
    /// What was not taken of Apple's answers; they grow with those.
    fileprivate var problems: [Message.ItemProblem] {
        switch result {
        case .rebuildCustomer(let message): message.problems
        case .backfillNotifications(let message): message.problems
        default: []
        }
    }

    /// Keeps the first `count` of `problems`, and says how many there are besides.
    fileprivate mutating func keep(_ count: Int, of problems: [Message.ItemProblem]) {
        var last = Message.ItemProblem()
        last.reason = problems.last?.reason ?? ""
        last.message = Text("and \(problems.count - count) more")
        let kept = problems.prefix(count) + [last]
        switch result {
        case .rebuildCustomer(var message):
            message.problems = Array(kept)
            result = .rebuildCustomer(message)
        case .backfillNotifications(var message):
            message.problems = Array(kept)
            result = .backfillNotifications(message)
        default: break
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
