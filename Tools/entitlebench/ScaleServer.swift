internal import EntitledClient
internal import EventLoop
internal import LoadGenerator
internal import TestSupport
internal import ToolSupport

/// A server on a store of one size, and what is asked of it.
struct ScaleServer {
    private let run: ScaleRun
    private let plan: SeedPlan
    private let signer: SeedSigner
    private let process: Int32
    private let address: SocketAddress
    private let client: Client
    private let log: String

    /// So many notifications go to the customer with very many transactions.
    private static let heavyEventCount = 9
    /// So many times a refund, its reversal, a family copy, its REVOKE, and a rebuild.
    private static let heavyTurnCount = 5
    /// The longest wait for all verdicts to be in memory.
    private static let patience: Duration = .seconds(300)

    /// - Throws: `CommandFailure` when the server's address is none.
    init(
        _ run: ScaleRun, _ plan: SeedPlan, _ signer: SeedSigner, _ server: ServerProcess,
        directory: String
    ) throws(CommandFailure) {
        self.run = run
        self.plan = plan
        self.signer = signer
        process = server.process.id
        log = directory + "/stderr.log"
        do {
            address = try SocketAddress(server.address)
            client = try Client(address: server.address, configuration: ClientConfiguration())
        } catch {
            throw CommandFailure(.failed, "the server listens at \(server.address)")
        }
    }

    /// Measures everything; the order matters, for cold comes before warm, and reads before writes.
    ///
    /// - Throws: `CommandFailure`; also for the first wrong answer.
    func measure(
        since start: ContinuousClock.Instant, _ figures: inout ScaleFigures
    ) async throws(CommandFailure) {
        defer { client.close() }
        try await firstAnswer()
        figures.firstAnswerNanoseconds = (ContinuousClock.now - start).nanoseconds
        run.onStep("\(plan.customerCount) customers: checks, cold and warm")
        figures.cold = try drive(connectionCount: 16, depth: 1, seconds: 1).latencies
        try await waitUntilWarm(&figures)
        figures.residentByteCount = ScaleProbe.residentByteCount(of: process)
        let before = Processors.nanosecondsUsed(byProcess: process) ?? 0
        let warm = try drive(connectionCount: 16, depth: 16, seconds: run.seconds)
        let used = (Processors.nanosecondsUsed(byProcess: process) ?? 0) - before
        figures.checkNanoseconds = Double(used) / Double(max(1, warm.answerCountEver))
        figures.warmPerSecond = warm.rounds.first?.checksPerSecond ?? 0
        figures.warm = try drive(connectionCount: 16, depth: 1, seconds: 1).latencies
        if run.heavyTransactionCount > 0 {
            run.onStep("\(plan.customerCount) customers: one with very many transactions")
            try await measureHeavy(&figures)
        }
        run.onStep("\(plan.customerCount) customers: notifications")
        try measureIngest(&figures)
    }

    private func firstAnswer() async throws(CommandFailure) {
        let expected = plan.expectation(of: plan.customerCount / 2)
        let answer = try await answer(about: plan.customerCount / 2)
        guard answer.isGranted == expected.isGranted,
            answer.transactionID == expected.transactionID
        else { throw CommandFailure(.failed, "the first answer is wrong: \(answer)") }
    }

    private func answer(about index: Int) async throws(CommandFailure) -> AccessAnswer {
        do throws(ClientError) {
            return try await client.checkAccess(
                .customer(plan.name(of: index)), product: plan.product(of: index))
        } catch {
            throw CommandFailure(.failed, "a check failed: \(error)")
        }
    }

    private func waitUntilWarm(_ figures: inout ScaleFigures) async throws(CommandFailure) {
        let limit = ContinuousClock.now + Self.patience
        while ContinuousClock.now < limit {
            figures.warmMilliseconds = ScaleProbe.warmMilliseconds(in: log)
            if figures.warmMilliseconds != nil { return }
            if Interruption.signalNumber != nil { throw .interrupted }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func drive(
        connectionCount: Int, depth: Int, seconds: Double
    ) throws(CommandFailure) -> LoadOutcome {
        var load = loadPlan(connectionCount: connectionCount, depth: depth, seconds: seconds)
        load.warmUpNanoseconds = 0
        let script = LoadScript.check(
            CheckScript(population: plan.checkPopulation(), selection: .uniform))
        let outcome: LoadOutcome
        do throws(LoadError) {
            outcome = try LoadRun(load, script).finish()
        } catch {
            throw CommandFailure(error)
        }
        try requireRight(outcome)
        return outcome
    }

    private func loadPlan(connectionCount: Int, depth: Int, seconds: Double) -> LoadPlan {
        var load = LoadPlan(address: address)
        load.connectionCount = connectionCount
        load.depth = depth
        load.processors = run.generatorProcessors
        load.warmUpNanoseconds = 200_000_000
        load.roundNanoseconds = UInt64(seconds * 1e9)
        load.roundCount = 1
        return load
    }

    private func requireRight(_ outcome: LoadOutcome) throws(CommandFailure) {
        guard outcome.isRight else {
            throw CommandFailure(
                .failed,
                "\(outcome.wrongCount) answers were wrong and \(outcome.missingCount) are missing: "
                    + (outcome.wrongAnswers.first?.what ?? ""))
        }
    }

    /// Hands notifications to the heavy customer one by one; each must be seen by the next check.
    private func measureHeavy(_ figures: inout ScaleFigures) async throws(CommandFailure) {
        let events = WriteEvents(plan: plan)
        let index = plan.heavyIndices.lowerBound
        var latencies: [UInt64] = []
        for round in 0..<Self.heavyEventCount {
            let (notification, transaction) = events.heavyEvent(of: index, round: round)
            latencies.append(
                try await hand(
                    notification, transaction, events.renewal(with: transaction),
                    showing: transaction))
        }
        figures.heavyColdNanoseconds = latencies[0]
        figures.heavyHotNanoseconds = Self.median(Array(latencies.dropFirst()))
        try await measureHeavyKinds(&figures, events)
    }

    /// A refund of the newest purchase and its reversal, a family copy and its REVOKE, one after
    /// the other, and then a rebuild, each several times.
    private func measureHeavyKinds(
        _ figures: inout ScaleFigures, _ events: WriteEvents
    ) async throws(CommandFailure) {
        let index = plan.heavyIndices.lowerBound
        let count = Self.heavyEventCount
        let before = events.heavyEvent(of: index, round: count - 2).transaction
        var newest = events.heavyEvent(of: index, round: count - 1).transaction
        var latencies = [[UInt64]](repeating: [], count: 4)
        for turn in 0..<Self.heavyTurnCount {
            let rounds = (0..<4).map { count + 4 * turn + $0 }
            func step(
                _ kind: Int, _ type: String, _ transaction: SeedTransaction,
                showing shown: SeedTransaction
            ) async throws(CommandFailure) {
                var notification = events.heavyEvent(of: index, round: rounds[kind]).notification
                notification.type = type
                notification.signedDate = transaction.signedDate + 500
                latencies[kind].append(
                    try await hand(notification, transaction, nil, showing: shown))
            }
            newest.signedDate += 1_000
            newest.revocationDate = newest.signedDate - 500
            try await step(0, "REFUND", newest, showing: before)
            newest.signedDate += 1_000
            newest.revocationDate = 0
            try await step(1, "REFUND_REVERSED", newest, showing: newest)
            var copy = events.heavyEvent(of: index, round: rounds[2]).transaction
            copy.isShared = true
            copy.originalTransactionID = copy.transactionID
            try await step(2, "SUBSCRIBED", copy, showing: copy)
            copy.signedDate += 1_000
            copy.revocationDate = copy.signedDate - 500
            try await step(3, "REVOKE", copy, showing: newest)
        }
        figures.heavyRefundNanoseconds = Self.median(latencies[0])
        figures.heavyReversalNanoseconds = Self.median(latencies[1])
        figures.heavyCopyNanoseconds = Self.median(latencies[2])
        figures.heavyRevokeNanoseconds = Self.median(latencies[3])
        figures.heavyRebuildNanoseconds = try await rebuild(index, showing: newest)
    }

    /// The median of some rebuilds, which must find nothing to change.
    private func rebuild(
        _ index: Int, showing shown: SeedTransaction
    ) async throws(CommandFailure) -> UInt64 {
        var latencies: [UInt64] = []
        for _ in 0..<Self.heavyTurnCount {
            let start = ContinuousClock.now
            let result: RebuildResult
            do throws(ClientError) {
                result = try await client.rebuildCustomer(
                    .customer(plan.name(of: index)), source: .storedFacts)
            } catch {
                throw CommandFailure(.failed, "a rebuild failed: \(error)")
            }
            latencies.append(UInt64((ContinuousClock.now - start).nanoseconds))
            guard result.changes.isEmpty,
                result.entitlements.map(\.transactionID) == [shown.transactionID]
            else { throw CommandFailure(.failed, "a rebuild changed answers: \(result)") }
        }
        return Self.median(latencies)
    }

    /// Hands in a notification, and checks that an answer afterwards names `shown`; how long the
    /// first took.
    private func hand(
        _ notification: SeedNotification, _ transaction: SeedTransaction, _ renewal: SeedRenewal?,
        showing shown: SeedTransaction
    ) async throws(CommandFailure) -> UInt64 {
        let latency: UInt64
        do {
            let body = try signer.body(notification, transaction, renewal)
            let start = ContinuousClock.now
            let ingested = try await client.ingestNotification(body)
            latency = UInt64((ContinuousClock.now - start).nanoseconds)
            guard ingested.disposition == .applied else {
                throw CommandFailure(.failed, "a notification was \(ingested.disposition)")
            }
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.failed, "a notification failed: \(error)")
        }
        let answer = try await answer(about: plan.heavyIndices.lowerBound)
        guard answer.transactionID == shown.transactionID else {
            throw CommandFailure(.failed, "an acknowledged notification is not seen: \(answer)")
        }
        return latency
    }

    private static func median(_ latencies: [UInt64]) -> UInt64 {
        latencies.sorted()[latencies.count / 2]
    }

    private func measureIngest(_ figures: inout ScaleFigures) throws(CommandFailure) {
        let events = WriteEvents(plan: plan)
        let oracle = WriteOracle()
        let alone = try write(events, .ingestOnly, oracle, from: 0)
        figures.ingests = alone.ingests
        figures.ingestsPerSecond = alone.ingestsPerSecond
        figures.ingestNanoseconds = alone.serverNanosecondsPerIngest ?? 0
        figures.verificationNanoseconds = alone.verificationNanoseconds
        let mixed = try write(events, .mixed, oracle, from: alone.takenCount)
        figures.mixedChecks = mixed.checks
    }

    private func write(
        _ events: WriteEvents, _ mix: WriteMix, _ oracle: WriteOracle, from first: Int
    ) throws(CommandFailure) -> WriteRun.Outcome {
        let stock: WriteStock
        do {
            stock = try WriteStock(
                events, signer: signer, from: first,
                count: Int(run.seconds * WriteRun.eventsPerSecondMax),
                threadCount: Processors.available.count)
        } catch {
            throw CommandFailure(.failed, "notifications cannot be signed: \(error)")
        }
        let outcome = try WriteRun(
            load: loadPlan(connectionCount: 8, depth: 32, seconds: run.seconds), mix: mix,
            stock: stock, oracle: oracle, serverID: process
        ).run()
        try requireRight(outcome.load)
        return outcome
    }
}
