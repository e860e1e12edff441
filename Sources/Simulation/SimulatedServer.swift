internal import AppStore
internal import Entitlements
internal import Service
internal import Session
internal import Storage
internal import TestSupport
internal import Wire

/// What a server needs of the world around it.
protocol ServerSurroundings: AnyObject {
    /// Simulated ms.
    var nowMilliseconds: Int64 { get }
    /// Has the server do something later.
    func schedule(_ task: ServerTask, after milliseconds: Int64)
    /// Sends what the socket takes of `bytes`; gives how many it took.
    func write(_ bytes: [UInt8], on connection: Int) -> Int
    /// Ends the server's output.
    func endOutput(of connection: Int)
    /// Closes the server's end.
    func close(_ connection: Int)
    /// The process has ended as it was asked to; what reached the commit thread is committed.
    func serverEnded()
    /// How long the next sync takes, in ms, and what becomes of the commit.
    func nextSync() -> (milliseconds: Int64, fate: CrashingStore.Fate)
}

/// What a server does later.
enum ServerTask: Sendable {
    case expireConnection(Int)
    case expireCall(Int)
    case work(call: Int)
    case commit
    case readInbox(loop: Int)
    case readOn(connection: Int)
    /// Draining: idle connections are ended.
    case endIdleConnections
    /// The grace is over: connections are closed as they are.
    case stop
}

/// A server process: real connections of `Session`, a real `Service`, and between them what
/// `Transport` does with threads, done by turns.
///
/// The order of calls is that of `ConnectionHandler`, `ServerLoop` and `CallDesk`.
final class SimulatedServer {
    let service: EntitlementService<CrashingStore>
    let store: CrashingStore
    let limits: Limits
    let loops: [SimulatedLoop]
    unowned let surroundings: any ServerSurroundings
    let tampering: AnswerTampering?
    var generator: SeededGenerator
    var connections: [Int: ServedConnection] = [:]
    var calls: [Int: SimulatedCall] = [:]
    /// Verified, and waiting for the commit thread.
    var prepared: [SimulatedCall] = []
    /// With the commit thread.
    var group: [SimulatedCall] = []
    let encoder: ReplyEncoder
    private(set) var isDraining = false
    private var callCount = 0
    private let outstandingCallCountMax: Int

    init(
        _ plan: SimulationPlan, store: CrashingStore, mint: Mint, clock: SimulatedClock,
        catalog: SimulatedCatalog, seed: UInt64, tampering: AnswerTampering?,
        in surroundings: any ServerSurroundings
    ) throws(ServiceStartError) {
        self.store = store
        self.surroundings = surroundings
        self.tampering = tampering
        generator = SeededGenerator(seed: seed)
        let app = AppConfiguration(
            bundleID: mint.bundleID, appAppleID: mint.appAppleID, environments: [.production],
            catalog: Catalog(catalog))
        var configuration = ServiceConfiguration(
            apps: [app], roots: [mint.authority.trustedRoot],
            cacheByteCountMax: plan.faults.contains(.tinyCache) ? 1 << 10 : 1 << 20,
            readerCount: plan.loopCount, clock: { clock.wall })
        if plan.faults.contains(.longHistories) {
            configuration.longHistoryLimits = LongHistoryLimits(
                transactionCountMax: 2, headCount: 1, chainCountMax: 4)
        }
        let service = try EntitlementService(store: store, configuration: configuration)
        self.service = service
        let limits = Limits(plan)
        self.limits = limits
        outstandingCallCountMax = plan.faults.contains(.tightLimits) ? 6 : 8_192
        encoder = ReplyEncoder(limits: limits)
        loops = (0..<plan.loopCount).map { index in
            SimulatedLoop(
                index: index,
                responder: Responder(
                    access: service.reader, limits: limits,
                    identity: ServerIdentity(version: "simulation", commit: "")))
        }
    }

    /// Whether anything of a connection is still under way.
    func isBusy(with connection: Int) -> Bool {
        connections[connection] != nil
            || group.contains { $0.connection == connection }
            || prepared.contains { $0.connection == connection }
    }

    // MARK: What arrives

    func accept(_ connection: Int) {
        let loop = connection % loops.count
        let served = ServedConnection(id: connection, loop: loop, limits: limits)
        connections[connection] = served
        settle(served)
    }

    func received(_ segment: Segment, on connection: Int) {
        guard let served = connections[connection] else { return }
        if case .reset = segment { return close(served) }
        served.unread.append(segment)
        read(served)
    }

    private func read(_ served: ServedConnection) {
        while served.reads, !served.isClosed, !served.unread.isEmpty {
            take(served.unread.removeFirst(), served)
        }
    }

    private func take(_ segment: Segment, _ served: ServedConnection) {
        let loop = loops[served.loop]
        let now = surroundings.nowMilliseconds
        loop.responder.batchMicroseconds = UInt64(now) * 1_000
        switch segment {
        case .bytes(let bytes):
            loop.responder.received(
                bytes.span, on: &served.session, output: &loop.output, at: now)
        case .end:
            loop.responder.inputEnded(on: &served.session, output: &loop.output, at: now)
        case .reset:
            return close(served)
        }
        loop.responder.batchEnded(atMicroseconds: UInt64(now) * 1_000)
        settle(served)
    }

    /// The client has taken bytes: the socket has room.
    func drained(_ connection: Int) {
        guard let served = connections[connection], !served.queued.isEmpty else { return }
        let taken = surroundings.write(served.queued, on: connection)
        guard taken > 0 else { return }
        served.queued.removeFirst(taken)
        settle(served)
    }

    // MARK: After every event of a connection

    func settle(_ served: ServedConnection) {
        let loop = loops[served.loop]
        guard !served.isClosed else { return loop.output.removeAll() }
        let now = surroundings.nowMilliseconds
        while true {
            write(served, loop)
            served.session.outputPending(byteCount: served.queued.count, at: now)
            submitCalls(of: served, loop)
            guard loop.output.isEmpty else { continue }
            guard served.session.shouldResume else { break }
            loop.responder.resume(&served.session, output: &loop.output, at: now)
        }
        followSession(served)
        if !served.isClosed { watch(served, loop) }
    }

    private func write(_ served: ServedConnection, _ loop: SimulatedLoop) {
        guard !loop.output.isEmpty else { return }
        var bytes = Text(copying: loop.output.bytes).bytes
        loop.output.removeAll()
        if let tampering { bytes = tampering.change(bytes) }
        if served.queued.isEmpty {
            bytes.removeFirst(surroundings.write(bytes, on: served.id))
        }
        served.queued += bytes
    }

    private func submitCalls(of served: ServedConnection, _ loop: SimulatedLoop) {
        while served.session.hasCall, let pending = served.session.takeCall() {
            guard calls.count < outstandingCallCountMax else {
                let refusal = Refusal(
                    .overloaded, "too many calls are waiting on this server",
                    retryAfterMilliseconds: 100)
                loop.responder.refused(
                    pending.tag, refusal, on: &served.session, output: &loop.output)
                continue
            }
            callCount += 1
            calls[callCount] = SimulatedCall(
                id: callCount, pending: pending, connection: served.id, loop: served.loop)
            served.calls.append(callCount)
            let now = surroundings.nowMilliseconds
            surroundings.schedule(
                .expireCall(callCount), after: max(0, pending.deadlineMilliseconds - now))
            surroundings.schedule(
                .work(call: callCount), after: Int64(generator.number(0...3)))
        }
    }

    private func followSession(_ served: ServedConnection) {
        switch served.session.step {
        case .proceed(let reads):
            resumeReading(served, reads)
        case .endOutput:
            served.hasEndedOutput = true
            surroundings.endOutput(of: served.id)
            served.session.outputEnded(at: surroundings.nowMilliseconds)
            if served.session.step == .close { close(served) } else { resumeReading(served, true) }
        case .close:
            close(served)
        }
    }

    private func resumeReading(_ served: ServedConnection, _ reads: Bool) {
        let isNew = reads && !served.reads
        served.reads = reads
        if isNew, !served.unread.isEmpty {
            surroundings.schedule(.readOn(connection: served.id), after: 0)
        }
    }

    func close(_ served: ServedConnection) {
        guard !served.isClosed else { return }
        served.isClosed = true
        served.session.closed()
        for id in served.calls { _ = calls.removeValue(forKey: id)?.abandon() }
        loops[served.loop].awaiting.removeAll { $0 == served.id }
        connections[served.id] = nil
        surroundings.close(served.id)
    }

    // MARK: Deadlines and revisions

    private func watch(_ served: ServedConnection, _ loop: SimulatedLoop) {
        if let deadline = served.session.nextDeadlineMilliseconds,
            deadline < served.armedDeadline ?? .max
        {
            served.armedDeadline = deadline
            let pause = deadline - surroundings.nowMilliseconds
            surroundings.schedule(.expireConnection(served.id), after: max(0, pause))
        }
        let revision = served.session.awaitedRevision
        guard revision != nil || served.awaitedRevision != nil else { return }
        served.awaitedRevision = revision
        loop.awaiting.removeAll { $0 == served.id }
        guard let revision else { return }
        loop.awaiting.append(served.id)
        loop.awaiting.sort()
        // A commit between the look at the revision and this has woken nobody.
        if revision <= service.revision { tell(loop, .revisionReached) }
    }

    func tell(_ loop: SimulatedLoop, _ message: SimulatedMessage) {
        loop.inbox.append(message)
        guard loop.inbox.count == 1 else { return }
        surroundings.schedule(
            .readInbox(loop: loop.index), after: Int64(generator.number(0...2)))
    }

    func perform(_ task: ServerTask) {
        switch task {
        case .expireConnection(let id): expireConnection(id)
        case .expireCall(let id): expireCall(id)
        case .work(let id): work(id)
        case .commit: commitGroup()
        case .readInbox(let loop): readInbox(loops[loop])
        case .readOn(let id): if let served = connections[id] { read(served) }
        case .endIdleConnections: endIdleConnections()
        case .stop: stop()
        }
    }

    // MARK: The end

    /// Refuses what is new, and ends by and by.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        for loop in loops { loop.responder.isDraining = true }
        surroundings.schedule(.endIdleConnections, after: 250)
        surroundings.schedule(.stop, after: 2_000)
    }

    private func endIdleConnections() {
        for id in connections.keys.sorted() {
            guard let served = connections[id] else { continue }
            served.session.drain()
            settle(served)
        }
    }

    private func stop() {
        for id in connections.keys.sorted() { if let served = connections[id] { close(served) } }
        // Threads end when their queues are empty.
        while !group.isEmpty || !prepared.isEmpty {
            if group.isEmpty { beginCommit() }
            commitGroup()
        }
        if !store.hasCrashed { surroundings.serverEnded() }
    }

    private func expireConnection(_ id: Int) {
        let now = surroundings.nowMilliseconds
        guard let served = connections[id], let armed = served.armedDeadline, armed <= now else {
            return
        }
        served.armedDeadline = nil
        let loop = loops[served.loop]
        loop.responder.expire(&served.session, output: &loop.output, at: now)
        settle(served)
    }

    private func expireCall(_ id: Int) {
        guard let call = calls[id], let served = connections[call.connection], call.abandon()
        else { return }
        calls[id] = nil
        served.calls.removeAll { $0 == id }
        let loop = loops[served.loop]
        loop.responder.refused(
            call.pending.tag, Refusal(.deadline, "the deadline came before the call was begun"),
            on: &served.session, output: &loop.output)
        settle(served)
    }

    private func readInbox(_ loop: SimulatedLoop) {
        let messages = loop.inbox
        loop.inbox = []
        for message in messages {
            switch message {
            case .completed(let id, let frame):
                guard let call = calls.removeValue(forKey: id),
                    let served = connections[call.connection]
                else { continue }
                served.calls.removeAll { $0 == id }
                loop.responder.completed(
                    call.pending.tag, frame: frame, on: &served.session, output: &loop.output)
                settle(served)
            case .revisionReached:
                if tampering?.swallowsRevisions == true { continue }
                for id in loop.awaiting {
                    guard let served = connections[id] else { continue }
                    loop.responder.revisionMoved(
                        on: &served.session, output: &loop.output,
                        at: surroundings.nowMilliseconds)
                    settle(served)
                }
            }
        }
    }
}

extension Limits {
    /// What one connection may claim in a run.
    init(_ plan: SimulationPlan) {
        self.init()
        guard plan.faults.contains(.tightLimits) else { return }
        inFlightCountMax = 3
        // Any frame at all fills it.
        inFlightByteCountMax = 1
        outputHighWaterByteCount = 256
        outputLowWaterByteCount = 64
        heavyReadOutputByteCountMax = 64
        frameMillisecondsMax = 3_000
    }
}

extension Catalog {
    /// What the operator says of the simulated products.
    init(_ catalog: SimulatedCatalog) {
        var products: [ExactName: Product] = [:]
        for product in SimulatedProduct.allCases {
            let isPlus = catalog.plus.contains(product)
            var policy = ProductPolicy()
            if product == .season {
                policy.duration = catalog.seasonDuration
                policy.keepsProratedRefunds = catalog.keepsProratedSeason
            }
            if product == .lifetime { policy.keepsProratedRefunds = catalog.keepsProratedLifetime }
            products[product.id] = Product(
                entitlements: isPlus ? [SimulatedCatalog.entitlement] : [], policy: policy)
        }
        self.init(products: products, familyCut: catalog.cutsFamilies ? .declared : .off)
    }
}

extension EntitlementService {
    /// Replaces the catalog of the only app.
    func reload(_ catalog: SimulatedCatalog) {
        let bundleID = serverBundleID
        reload(catalogs: [ExactName(bundleID): Catalog(catalog)])
    }

    private var serverBundleID: String { reader.serverInfo().scopes.first?.bundleID ?? "" }
}
