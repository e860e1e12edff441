internal import TestSupport
internal import Wire

/// What a client needs of the world around it.
protocol ClientSurroundings: AnyObject {
    var nowMilliseconds: Int64 { get }
    /// Sends bytes towards the server.
    func send(_ bytes: [UInt8], on connection: Int)
    /// For the trace.
    func note(_ text: String)
}

/// A backend with one connection at a time and several requests in flight: it reads whole frames,
/// hands answers to the auditor, and tries again what was not answered.
final class SimulatedClient {
    let index: Int
    private(set) var connection: Int?
    private(set) var asked: [Asked] = []
    private var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
    private let arena = MessageArena(byteCountMax: 64 << 20)
    private var nextID: UInt64 = 1
    private var generator: SeededGenerator
    private let plan: SimulationPlan
    private let auditor: Auditor
    private let workload: Workload
    private let mint: Mint
    private unowned let surroundings: any ClientSurroundings

    init(
        _ index: Int, _ plan: SimulationPlan, auditor: Auditor, workload: Workload, mint: Mint,
        in surroundings: any ClientSurroundings
    ) {
        self.index = index
        self.plan = plan
        self.auditor = auditor
        self.workload = workload
        self.mint = mint
        self.surroundings = surroundings
        generator = SeededGenerator(seed: plan.seed ^ UInt64(index + 1) &* 0x9E37_79B1)
    }

    var hasRoom: Bool { connection != nil && asked.count < plan.pipelineCount }

    /// The connection is there.
    func connected(_ connection: Int) {
        self.connection = connection
        decoder = FrameDecoder(frameByteCountMax: 1 << 20)
    }

    /// The connection is gone: what was asked on it is not answered any more.
    func disconnected() {
        guard let connection else { return }
        self.connection = nil
        auditor.connectionEnded(connection)
        let lost = asked
        asked = []
        for inquiry in lost {
            auditor.lost(inquiry)
            guard case .write(let index) = inquiry.inquiry else { continue }
            workload.ended(index, isAnswered: false, isFinal: false, connection: connection)
        }
    }

    // MARK: Asking

    /// Sends inquiries in one write.
    func ask(_ inquiries: [Inquiry]) {
        guard let connection else { return }
        var output = OutputBuffer()
        for inquiry in inquiries {
            var request = Request(id: nextID, call: call(inquiry))
            nextID += 1
            let timeout: UInt32 = generator.oneIn(4) ? UInt32(generator.number(20...900)) : 0
            request.timeoutMilliseconds = timeout
            let asked = Asked(
                id: request.id, client: index, connection: connection, inquiry: inquiry,
                sentAt: surroundings.nowMilliseconds,
                timeoutMilliseconds: timeout == 0 ? 5_000 : Int64(timeout), floor: auditor.floor)
            auditor.sent(asked)
            self.asked.append(asked)
            surroundings.note("client \(index) asks \(asked.id): \(inquiry.summary)")
            do throws(WireError) {
                try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
            } catch {
                preconditionFailure("a request fits a frame: \(error)")
            }
        }
        surroundings.send(Text(copying: output.bytes).bytes, on: connection)
    }

    private func call(_ inquiry: Inquiry) -> Request.Call {
        switch inquiry {
        case .check(let question): return .checkAccess(question.message)
        case .batch(let questions): return .checkAccessBatch(questions.map(\.message))
        case .serverInfo: return .getServerInfo
        case .customer(let name):
            var message = Message.GetCustomerRequest()
            message.customer = name.reference
            return .getCustomer(message)
        case .write(let index): return call(auditor.writes[index].write.content)
        }
    }

    private func call(_ content: SimulatedWrite.Content) -> Request.Call {
        switch content {
        case .notification(let fact):
            return .ingestNotification(.init(payload: mint.body(fact)))
        case .upload(let customer, let copies, let renewals):
            var message = Message.IngestTransactionsRequest()
            message.customerID = customer.map { Text(SimulatedName.customerID($0)) } ?? Text()
            message.signedTransactions = copies.map { Text(mint.jws($0)) }
            message.signedRenewals = renewals.map { Text(mint.jws($0)) }
            return .ingestTransactions(message)
        case .rebuild(let name, let isDryRun):
            var message = Message.RebuildCustomerRequest()
            message.customer = name.reference
            message.source = .storedFacts
            message.dryRun = isDryRun
            return .rebuildCustomer(message)
        case .link, .household, .transfer:
            return .linkCustomer(link(content))
        }
    }

    private func link(_ content: SimulatedWrite.Content) -> Message.LinkCustomerRequest {
        var message = Message.LinkCustomerRequest()
        switch content {
        case .link(let person, let identity):
            message.customerID = Text(SimulatedName.customerID(person))
            message.identity = identity.reference
        case .household(let person, let household):
            message.customerID = Text(SimulatedName.customerID(person))
            if let household {
                message.householdID = Text(
                    SimulatedName.householdID(Population.family(of: person), household))
            } else {
                message.leaveHousehold = true
            }
        case .transfer(let chain, _, let target):
            message.customerID = Text(SimulatedName.customerID(target))
            message.identity = SimulatedName.chain(chain).reference
            message.transfer = true
        case .notification, .upload, .rebuild: break
        }
        return message
    }

    // MARK: Answers

    /// Bytes came from the server.
    func received(_ bytes: [UInt8], isTainted: Bool) {
        var position = 0
        do throws(WireError) {
            while let body = try decoder.next(in: bytes.span, from: &position) {
                let response = try Response(
                    decoding: decoder.bytes(of: body, in: bytes.span), in: arena)
                received(response, isTainted: isTainted)
            }
            decoder.hold(bytes.span, from: position)
        } catch {
            auditor.report("unreadable", "an answer cannot be read: \(error)")
        }
    }

    private func received(_ response: Response, isTainted: Bool) {
        surroundings.note("client \(index) is told \(response.summary)")
        if response.id == 0, response.status != .ok {
            // About the connection: the bytes on it were no frames, or came too slowly.
            if !isTainted {
                auditor.report("connectionRefused", "for no reason: \(response.reason)")
            }
            return
        }
        guard let place = asked.firstIndex(where: { $0.id == response.id }) else {
            return auditor.report(
                "answerTwice", "client \(index) did not ask \(response.id), or was answered")
        }
        let inquiry = asked.remove(at: place)
        let isAnswered = auditor.received(response, to: inquiry)
        guard case .write(let write) = inquiry.inquiry else { return }
        workload.ended(
            write, isAnswered: isAnswered, isFinal: !isAnswered && !response.helpsToTryAgain,
            connection: nil)
    }
}

extension Response {
    /// For traces: nothing that differs from run to run.
    fileprivate var summary: String {
        switch result {
        case .checkAccess(let answer)?:
            "\(id): \(answer.reason) \(answer.transactionID) \(answer.validUntilMilliseconds) "
                + "of \(answer.revision)"
        case .checkAccessBatch(let answer)?:
            "\(id): "
                + answer.results.map { "\($0.reason) \($0.transactionID)" }.joined(separator: ", ")
                + " of \(answer.revision)"
        case .ingestNotification(let answer)?:
            "\(id): \(answer.notificationUUID) \(answer.disposition) of \(answer.revision), "
                + "\(answer.changes.map(\.summary))"
        case .ingestTransactions(let answer)?, .linkCustomer(let answer)?:
            "\(id): of \(answer.revision), \(answer.changes.map(\.summary))"
        case .rebuildCustomer(let answer)?:
            "\(id): \(answer.transactionsRead) read of \(answer.revision), "
                + "\(answer.changes.map(\.summary))"
        case .getCustomer(let answer)?:
            "\(id): \(answer.customerID) with \(answer.transactions.count) transactions, "
                + "\(answer.identities) of \(answer.revision)"
        case .getServerInfo(let answer)?:
            "\(id): \(answer.customers) customers of \(answer.revision)"
        default:
            "\(id): \(reason)"
        }
    }

    /// Whether the same call may go well later.
    fileprivate var helpsToTryAgain: Bool {
        switch reason.description {
        case "OVERLOADED", "DEADLINE", "STORE_UNAVAILABLE", "DRAINING": true
        default: false
        }
    }
}

extension Message.Change {
    fileprivate var summary: String {
        "\(customerID) \(productID) \(grantedBefore) to \(grantedAfter): \(reason)"
    }
}
