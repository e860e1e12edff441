import Entitlements
import Service
import Session
import Storage
import TestSupport
import Wire

/// The transport and the client of one connection of a real service; no socket, no thread.
final class ScriptedPeer {
    private static let now: Int64 = 1_772_323_200_000
    private let limits: Limits
    private let service: EntitlementService<MemoryStore>
    private let responder: Responder
    private let encoder: ReplyEncoder
    private let arena = MessageArena()
    private var connection: ClientConnection
    private var output = OutputBuffer()
    private var clock: Int64 = 1_000
    private var taken: [PendingCall] = []
    private var hasEndedInput = false
    private var sentByteCount = 0
    private var reads = true
    /// What the client has read and not decoded yet, and what it has decoded.
    private var received = FrameDecoder(frameByteCountMax: 1 << 24)
    private var answerCount = 0
    private(set) var isClosed = false

    /// A connection of a service that is empty but for one purchase.
    init(limitsNumber: Int) throws {
        var limits = Limits()
        if limitsNumber > 0 {
            limits.frameByteCountMax = 300
            limits.inFlightCountMax = 3
            limits.inFlightByteCountMax = 200
            limits.parkedByteCountMax = 100
            limits.batchCountMax = 3
            limits.outputHighWaterByteCount = 400
            limits.outputLowWaterByteCount = limitsNumber == 1 ? 100 : 400
            limits.heavyReadOutputByteCountMax = 100
        }
        self.limits = limits
        let desk = try SigningDesk.shared.get()
        let app = AppConfiguration(
            bundleID: desk.fixtures.bundleID, appAppleID: desk.fixtures.appAppleID,
            environments: [.production, .sandbox])
        service = try EntitlementService(
            store: MemoryStore(),
            configuration: ServiceConfiguration(
                apps: [app], roots: [desk.fixtures.authority.trustedRoot],
                cacheByteCountMax: 1 << 20, readerCount: 1,
                clock: { Timestamp(milliseconds: Self.now) }))
        try service.warm()
        let upload = TransactionUpload(customerID: "a", signedTransactions: [desk.transaction])
        _ = service.commit([try service.prepare(.transactions(upload))])
        responder = Responder(
            access: service.reader, limits: limits,
            identity: ServerIdentity(version: "1", commit: "0"), meter: UsageMeter(slotCount: 8))
        encoder = ReplyEncoder(limits: limits)
        connection = ClientConnection(limits: limits)
    }

    // MARK: The client

    /// Whole frames of usual requests; the bytes choose call, number and condition.
    func request(_ kind: UInt8, _ id: UInt8, _ condition: UInt8) throws -> [UInt8] {
        var check = Message.CheckAccessRequest(customer: .customerID("a"), subject: .product("p"))
        if condition < 64 { check.minRevision = UInt64(condition) }
        var customer = Message.GetCustomerRequest()
        customer.customer = .customerID("a")
        let calls: [Request.Call] = [
            .checkAccess(check), .getServerInfo, .getCustomer(customer),
            .checkAccessBatch(Array(repeating: check, count: Int(condition % 5))),
            .listCustomers(Message.ListCustomersRequest()),
            .ingestNotification(.init(payload: [UInt8](repeating: id, count: Int(condition)))),
            .linkCustomer(Message.LinkCustomerRequest()),
            .checkAccess(Message.CheckAccessRequest()),
        ]
        var request = Request(id: UInt64(id), call: calls[Int(kind) % calls.count])
        request.timeoutMilliseconds = UInt32(condition) * 7
        var frame = OutputBuffer()
        try request.encodeFrame(into: &frame, in: arena, frameByteCountMax: 1 << 24)
        return Text(copying: frame.bytes).bytes
    }

    /// Sends bytes, unless nobody reads them.
    func send(_ bytes: [UInt8]) throws {
        guard !isClosed, reads, !hasEndedInput, !bytes.isEmpty else { return }
        sentByteCount += bytes.count
        responder.received(bytes.span, on: &connection, output: &output, at: clock)
        settle()
    }

    /// Ends what the client sends.
    func endInput() {
        guard !isClosed, !hasEndedInput else { return }
        hasEndedInput = true
        responder.inputEnded(on: &connection, output: &output, at: clock)
        settle()
    }

    /// Reads up to `count` bytes of answers.
    func takeOutput(_ count: Int) {
        guard !isClosed else { return }
        let bytes = Text(copying: output.bytes.extracting(first: count)).bytes
        output.consume(bytes.count)
        received.hold(bytes.span, from: 0)
        settle()
    }

    // MARK: The server's other threads, and time

    /// Carries out one of the calls that wait; writes are refused, so that the service stays as it
    /// is.
    func completeCall(_ number: Int) throws {
        guard !isClosed, !taken.isEmpty else { return }
        let call = taken.remove(at: number % taken.count)
        let frame: [UInt8]
        if case .read(let read) = call.call {
            frame = encoder.frame(for: read, call.tag) { (query) throws(Refusal) in
                try service.read(query)
            }
        } else {
            frame = encoder.frame(
                for: CallReply.refused(Refusal(.overloaded, "the script says so")), call.tag)
        }
        try expect(
            frame.count <= limits.frameByteCountMax + FrameDecoder.prefixByteCount
                || limits.frameByteCountMax == 300, "an answer is longer than a frame may be")
        responder.completed(call.tag, frame: frame, on: &connection, output: &output)
        settle()
    }

    /// Refuses one of the calls that wait.
    func refuseCall(_ number: Int) {
        guard !isClosed, !taken.isEmpty else { return }
        let call = taken.remove(at: number % taken.count)
        responder.refused(
            call.tag, Refusal(.overloaded, "the script says so"), on: &connection, output: &output)
        settle()
    }

    /// Lets time go by, to the next deadline and past it where it lies within.
    func wait(milliseconds: Int64) {
        guard !isClosed else { return }
        clock += milliseconds
        guard let deadline = connection.nextDeadlineMilliseconds, deadline <= clock else { return }
        responder.expire(&connection, output: &output, at: clock)
        settle()
    }

    /// The server goes down.
    func drain() {
        guard !isClosed else { return }
        responder.isDraining = true
        connection.drain()
        settle()
    }

    /// A write of somebody else's is published.
    func moveRevision() {
        guard !isClosed, connection.awaitedRevision != nil else { return }
        responder.revisionMoved(on: &connection, output: &output, at: clock)
        settle()
    }

    // MARK: The transport

    /// What a transport does after each of the responder's calls.
    private func settle() {
        connection.outputPending(byteCount: output.count, at: clock)
        while let call = connection.takeCall() { taken.append(call) }
        while connection.shouldResume {
            let before = (connection.heldByteCount, output.count)
            responder.resume(&connection, output: &output, at: clock)
            connection.outputPending(byteCount: output.count, at: clock)
            while let call = connection.takeCall() { taken.append(call) }
            // Held bytes that are no whole frame yet end it; else something is taken each time.
            if before == (connection.heldByteCount, output.count) { break }
        }
        switch connection.step {
        case .proceed(let reads): self.reads = reads
        case .endOutput:
            connection.outputEnded(at: clock)
            if case .close = connection.step { close() }
        case .close: close()
        }
    }

    private func close() {
        connection.closed()
        isClosed = true
    }

    // MARK: What must hold

    /// Limits hold, and what was written are answers.
    func judge() throws {
        guard !isClosed else { return }
        try expect(
            connection.inFlightCount >= taken.count, "calls are out that are not in flight")
        try expect(
            connection.inFlightCount <= limits.inFlightCountMax,
            "\(connection.inFlightCount) requests in flight")
        try expect(connection.heldByteCount <= sentByteCount, "more is held than was sent")
        let nothing: [UInt8] = []
        var position = 0
        while let body = try received.next(in: nothing.span, from: &position) {
            _ = try Response(decoding: received.bytes(of: body, in: nothing.span), in: arena)
            answerCount += 1
        }
        // The smallest request is a frame of one byte.
        try expect(answerCount <= sentByteCount / 5 + 2, "more answers than requests")
    }

    /// The peer ends its output and reads everything; the connection then closes by itself.
    func finish() throws {
        endInput()
        var rounds = 0
        while !isClosed {
            rounds += 1
            try expect(rounds < 4_096, "the connection never closes: \(connection.step)")
            takeOutput(.max)
            try completeCall(0)
            try judge()
            wait(milliseconds: 1_000)
        }
    }
}
