import Authorization
import Entitlements
import Service
import Session
import Storage
import Synchronization
import TestSupport
import Wire

/// The wall clock of a bench's service, which a test may set.
final class BenchClock: Sendable {
    private let value = Atomic(SessionBench.now)

    /// Since 1970.
    var milliseconds: Int64 {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}

/// One connection of a real service on a memory store; the test is its transport and its client.
final class SessionBench {
    static let authority: Result<TestCertificateAuthority, any Error> = Result {
        try TestCertificateAuthority()
    }
    static let now: Int64 = 1_772_323_200_000

    let store = MemoryStore()
    let service: EntitlementService<MemoryStore>
    let responder: Responder
    let meter = UsageMeter(slotCount: 64)
    let fixtures: SignedFixtures
    let limits: Limits
    var connection: ClientConnection
    /// What the socket has not taken.
    var output = OutputBuffer()
    /// Milliseconds of the loop's clock.
    var clock: Int64 = 1000
    /// Calls taken from the connection and not carried out.
    var taken: [PendingCall] = []
    /// Answers reads instead of the service.
    var read: ((ReadCall) throws(Refusal) -> ReadReply)?
    /// Plays who asks Apple.
    var remote: (RemoteCall) throws(Refusal) -> RemoteReply = { (_) throws(Refusal) in
        throw Refusal(.appStoreIncomplete, "the test asks nobody")
    }
    private let arena = MessageArena(byteCountMax: 64 << 20)
    private let encoder: ReplyEncoder

    init(
        isAppStoreConfigured: Bool = false, otherApps: [String] = [],
        keys: KeyBoard = KeyBoard(), audit: AuditTrail? = nil,
        time: BenchClock = BenchClock(),
        _ change: (inout Limits) -> Void = { _ in }
    ) throws {
        var limits = Limits()
        change(&limits)
        self.limits = limits
        let fixtures = SignedFixtures(authority: try Self.authority.get())
        self.fixtures = fixtures
        let catalog = Catalog(products: ["meadow.lifetime": .init(entitlements: ["plus"])])
        let app = AppConfiguration(
            bundleID: fixtures.bundleID, appAppleID: fixtures.appAppleID,
            environments: [.production, .sandbox], catalog: catalog)
        service = try EntitlementService(
            store: store,
            configuration: ServiceConfiguration(
                apps: [app]
                    + otherApps.map {
                        AppConfiguration(
                            bundleID: $0, appAppleID: fixtures.appAppleID + 1,
                            environments: [.production], catalog: Catalog())
                    }, roots: [fixtures.authority.trustedRoot],
                isAppStoreConfigured: isAppStoreConfigured,
                clock: { Timestamp(milliseconds: time.milliseconds) }))
        try service.warm()
        responder = Responder(
            access: service.reader, limits: limits,
            identity: ServerIdentity(version: "1.2.3", commit: "abc"), meter: meter, keys: keys,
            audit: audit)
        connection = ClientConnection(limits: limits)
        encoder = ReplyEncoder(limits: limits)
    }

    // MARK: The client

    /// Sends bytes; the socket takes no answers until `drainOutput`.
    func send(_ bytes: [UInt8]) {
        responder.received(bytes.span, on: &connection, output: &output, at: clock)
        settle()
    }

    func send(_ request: Request) throws { send(try frame(request)) }

    func frame(_ request: Request) throws -> [UInt8] {
        var buffer = OutputBuffer()
        try request.encodeFrame(into: &buffer, in: arena, frameByteCountMax: 1 << 30)
        return Text(copying: buffer.bytes).bytes
    }

    func endInput() {
        responder.inputEnded(on: &connection, output: &output, at: clock)
        settle()
    }

    var isIdle: Bool { connection.isIdle }

    /// Reads all answers that wait.
    func answers() throws -> [Response] {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 30)
        let bytes = Text(copying: output.bytes).bytes
        output.removeAll()
        var responses: [Response] = []
        var position = 0
        while let body = try decoder.next(in: bytes.span, from: &position) {
            let span = decoder.bytes(of: body, in: bytes.span)
            responses.append(try Response(decoding: span, in: arena))
        }
        // A server writes whole frames.
        precondition(position == bytes.count)
        settle()
        return responses
    }

    // MARK: The transport

    /// What a transport does after each of the responder's calls.
    func settle() {
        connection.outputPending(byteCount: output.count, at: clock)
        while let call = connection.takeCall() { taken.append(call) }
        if connection.shouldResume {
            responder.resume(&connection, output: &output, at: clock)
            settle()
        }
    }

    /// Carries out the calls taken, one after the other, as worker and commit thread would.
    func work() {
        while !taken.isEmpty { finish(taken.removeFirst()) }
    }

    func finish(_ call: PendingCall) {
        let frame: [UInt8]
        if case .read(let read) = call.call {
            frame = encoder.frame(for: read, call.tag) { (query) throws(Refusal) in
                guard let read = self.read else {
                    return call.limited(try service.read(query))
                }
                return try read(query)
            }
        } else {
            frame = encoder.frame(for: reply(call), call.tag)
        }
        responder.completed(call.tag, frame: frame, on: &connection, output: &output)
        settle()
    }

    private func reply(_ pending: PendingCall) -> CallReply {
        do throws(Refusal) {
            switch pending.call {
            case .read(let call):
                return .read(try service.read(call))
            case .remote(let call):
                return .remote(try remote(call))
            case .write(let write):
                let event = try service.prepare(write)
                try pending.checkScope(event.scope)
                let results = service.commit([event])
                return .written(try results[0].get())
            }
        } catch {
            return .refused(error)
        }
    }

    func expire(after milliseconds: Int64) {
        clock += milliseconds
        responder.expire(&connection, output: &output, at: clock)
        settle()
    }

    func revisionMoved() {
        responder.revisionMoved(on: &connection, output: &output, at: clock)
        settle()
    }

    func drain() {
        responder.isDraining = true
        connection.drain()
    }

    func endOutput() { connection.outputEnded(at: clock) }

    // MARK: Requests

    /// Sends one request, works, and gives the only answer.
    func ask(_ request: Request) throws -> Response {
        try send(request)
        work()
        let answers = try answers()
        precondition(answers.count == 1 && answers[0].id == request.id)
        return answers[0]
    }

    func check(
        _ customer: Message.CustomerRef, _ subject: Message.Subject, id: UInt64 = 1,
        _ change: (inout Message.CheckAccessRequest) -> Void = { _ in }
    ) -> Request {
        var check = Message.CheckAccessRequest(customer: customer, subject: subject)
        check.atMilliseconds = Self.now
        change(&check)
        return Request(id: id, call: .checkAccess(check))
    }

    /// Uploads purchases of a lifetime product for a customer.
    func buy(_ customer: String, _ transactionIDs: [String]) throws -> Response {
        var upload = Message.IngestTransactionsRequest()
        upload.customerID = Text(customer)
        upload.signedTransactions = try transactionIDs.map {
            Text(
                try fixtures.transaction(
                    $0, product: "meadow.lifetime", purchased: Self.now - 1000,
                    changes: ["appAccountToken": "6e7b5f4a-0000-4000-8000-00000000000a"]))
        }
        return try ask(Request(id: 900, call: .ingestTransactions(upload)))
    }
}
