internal import LoadGenerator
internal import Synchronization
internal import Wire

/// One connection that hands in notifications, checks access, or both: see `WriteMix`.
///
/// Every answer is held against what must be so: a notification is APPLIED, and a check shows at
/// least every event that was acknowledged before it was sent, and none that was not sent.
final class WriteDialogue: ForeignDialogue {
    /// What all connections of a run share.
    final class Common: Sendable {
        let stock: WriteStock
        let oracle: WriteOracle
        let mix: WriteMix
        /// What every request shows; empty = nothing.
        let apiKey: Text
        /// Latencies of one kind of call each, in nanoseconds, warm-up included.
        let ingests = Mutex(Histogram())
        let checks = Mutex(Histogram())
        /// Ingests that were acknowledged.
        let appliedCount = Atomic<Int>(0)
        /// Checks of somebody of whom an event had been acknowledged.
        let freshCheckCount = Atomic<Int>(0)

        init(stock: WriteStock, oracle: WriteOracle, mix: WriteMix, apiKey: String = "") {
            self.apiKey = Text(apiKey)
            self.stock = stock
            self.oracle = oracle
            self.mix = mix
        }
    }

    /// A ring of the instants of sending, by request number; far more than may be in flight.
    private static let ringSize = 1 << 17
    private static let ingestBit: UInt64 = 1 << 63
    private static let frameByteCountMax = 1 << 20

    private let common: Common
    private let plan: SeedPlan
    private var random: RandomSource
    /// Draws whom the other checks ask about, as people behave: some far more often than others.
    private let picker: CustomerPicker
    private let arena = MessageArena()
    private var sentAt: [ContinuousClock.Instant]
    private let clock = ContinuousClock()
    private var failure: String?

    /// The dialogue of one connection.
    init(_ common: Common, _ place: ConnectionPlace) {
        self.common = common
        plan = common.stock.events.plan
        picker = CustomerPicker(
            .zipf(exponent: CheckZipfWorkload.exponent), customerCount: plan.customerCount)
        random = RandomSource(seed: place.seed &+ UInt64(place.index) &* 0x9E37_79B9)
        sentAt = Array(repeating: clock.now, count: Self.ringSize)
    }

    func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        sentAt[Int(number) % Self.ringSize] = clock.now
        do {
            let isIngest = random.below(100) < UInt64(common.mix.ingestPercentage)
            return isIngest
                ? try appendIngest(number, to: &output) : try appendCheck(number, to: &output)
        } catch {
            // Told when the next answer comes: a request has no way to fail.
            failure = "a request cannot be made: \(error)"
            return 0
        }
    }

    private func appendIngest(_ number: UInt64, to output: inout OutputBuffer) throws -> UInt64 {
        let (event, body) = try common.stock.next()
        let events = common.stock.events
        common.oracle.send(events.round(of: event), of: events.customer(of: event))
        var request = Request(
            id: number, call: .ingestNotification(Message.IngestNotificationRequest(payload: body)))
        request.timeoutMilliseconds = 30_000
        try append(request, to: &output)
        return UInt64(event) | Self.ingestBit
    }

    private func appendCheck(_ number: UInt64, to output: inout OutputBuffer) throws -> UInt64 {
        let isRecent = random.below(100) < UInt64(common.mix.recentPercentage)
        let recent = isRecent ? common.oracle.recentCustomer(random.next()) : nil
        let customer = recent ?? Int(picker.next(&random))
        let floor = common.oracle.floor(of: customer)
        var check = Message.CheckAccessRequest(
            customer: .customerID(Text(plan.name(of: customer))),
            subject: .product(Text(plan.product(of: customer))))
        // Every second one says what it must have seen; the other trusts the server.
        if random.below(2) == 0 { check.minRevision = floor.revision }
        try append(Request(id: number, call: .checkAccess(check)), to: &output)
        return UInt64(customer) | UInt64(floor.rounds) << 32
    }

    private func append(_ request: Request, to output: inout OutputBuffer) throws {
        var request = request
        request.apiKey = common.apiKey
        try request.encodeFrame(
            into: &output, in: arena, frameByteCountMax: Self.frameByteCountMax)
    }

    func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        if let failure { ledger.fail(failure) }
        var position = 0
        while ledger.failure == nil, input.count - position >= FrameDecoder.prefixByteCount {
            var byteCount = 0
            for offset in 0..<FrameDecoder.prefixByteCount {
                byteCount = byteCount << 8 | Int(input[position + offset])
            }
            let start = position + FrameDecoder.prefixByteCount
            guard byteCount <= Self.frameByteCountMax else {
                ledger.fail("a frame of \(byteCount) bytes")
                break
            }
            guard input.count - start >= byteCount else { break }
            check(input.extracting(start..<start + byteCount), &ledger)
            position = start + byteCount
        }
        return position
    }

    private func check(_ body: Span<UInt8>, _ ledger: inout AnswerLedger) {
        let response: Response
        do {
            response = try Response(decoding: body, in: arena)
        } catch {
            ledger.fail("an answer that cannot be read: \(error)")
            return
        }
        guard let subject = ledger.answer(response.id) else { return }
        let latency = UInt64(
            max(0, (clock.now - sentAt[Int(response.id) % Self.ringSize]).nanoseconds))
        let problem: String?
        if subject & Self.ingestBit != 0 {
            common.ingests.withLock { $0.record(latency) }
            problem = ingestProblem(response, event: Int(subject & ~Self.ingestBit))
        } else {
            common.checks.withLock { $0.record(latency) }
            problem = checkProblem(
                response, customer: Int(subject & 0xFFFF_FFFF), floor: Int(subject >> 32))
        }
        if let problem { ledger.reportWrong(problem, expected: [], found: body) }
    }

    private func ingestProblem(_ response: Response, event: Int) -> String? {
        guard case .ingestNotification(let answer)? = response.result else {
            return "event \(event): \(response.status) \(response.reason) \(response.message)"
        }
        let events = common.stock.events
        guard answer.disposition == .applied,
            answer.notificationUUID.string == events.uuid(event)
        else { return "event \(event): \(answer.disposition), \(answer.notificationUUID)" }
        common.appliedCount.add(1, ordering: .relaxed)
        common.oracle.acknowledge(
            events.round(of: event), of: events.customer(of: event), revision: answer.revision)
        return nil
    }

    private func checkProblem(_ response: Response, customer: Int, floor: Int) -> String? {
        guard case .checkAccess(let answer)? = response.result else {
            return "customer \(customer): \(response.status) \(response.reason)"
        }
        let events = common.stock.events
        let rounds = answer.transactionID.string.flatMap {
            events.roundCount(of: customer, naming: $0)
        }
        let ceiling = common.oracle.ceiling(of: customer)
        guard let rounds, rounds >= floor, rounds <= ceiling else {
            return "customer \(customer): \(answer.transactionID), after \(floor) acknowledged "
                + "events and \(ceiling) sent ones"
        }
        if floor > 0 { common.freshCheckCount.add(1, ordering: .relaxed) }
        let expected = events.expectation(of: customer, afterRounds: rounds)
        let isRight =
            answer.granted == expected.isGranted
            && answer.reason.rawValue == expected.reasonNumber
            && answer.ownership.rawValue == expected.ownershipNumber
            && answer.validUntilMilliseconds == expected.validUntil
            && answer.productID.string == expected.productID
            && answer.originalTransactionID.string == expected.originalTransactionID
        return isRight ? nil : "customer \(customer), \(rounds) events: \(answer)"
    }
}

/// What the connections of a write workload say.
struct WriteMix: Equatable, Sendable {
    /// How many of a hundred requests hand in a notification; the others check access.
    var ingestPercentage: Int
    /// How many of a hundred checks ask about somebody of whom an event was acknowledged lately.
    var recentPercentage = 50

    /// Nothing but ingests.
    static let ingestOnly = WriteMix(ingestPercentage: 100)
    /// What a busy app does.
    static let mixed = WriteMix(ingestPercentage: 5)
}
