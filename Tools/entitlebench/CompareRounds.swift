internal import Entitlements
internal import LoadGenerator
internal import ToolSupport
internal import Wire

/// Drives all servers in turn, round by round.
struct CompareRounds: Sendable {
    /// Servers and shapes.
    var targets: [CompareTarget]
    var shapes: [CompareShape]
    /// How many rounds, and how long each run in them is, in seconds.
    var roundCount = 6
    var seconds = 0.7
    var warmUpSeconds = 0.15
    /// Customers that every server holds.
    var plan: SeedPlan
    /// Bytes of a frame that an echo answers with.
    var echoByteCount: Int
    /// Processors of the generator; empty = any.
    var processors: [Int]
    /// Told after each run how many are done.
    var onProgress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }

    /// How many runs there are.
    var runCount: Int {
        roundCount * shapes.reduce(0) { sum, shape in sum + targets.count { $0.takes(shape) } }
    }

    /// Runs all of it. Shape by shape, and in a shape round by round: the servers of one round run
    /// within a few seconds of each other. Every round begins with another server.
    ///
    /// - Throws: `CommandFailure` when a server fails, answers wrongly or not at all.
    func run(_ store: StoreLoop?) throws(CommandFailure) -> CompareFigures {
        var figures = CompareFigures(targets: targets, shapes: shapes)
        var done = 0
        for (place, shape) in shapes.enumerated() {
            for round in 0..<roundCount {
                for turn in targets.indices {
                    let target = (turn + round) % targets.count
                    guard targets[target].takes(shape) else { continue }
                    let sample = try run(targets[target], shape, round)
                    figures.add(sample, shape: place, target: target)
                    done += 1
                    onProgress(done, runCount)
                }
            }
        }
        if let store {
            for _ in 0..<roundCount {
                figures.storeLoopRates.append(try store.getsPerSecond(for: seconds))
            }
        }
        return figures
    }

    private func run(
        _ target: CompareTarget, _ shape: CompareShape, _ round: Int
    ) throws(CommandFailure) -> CompareSample {
        var load = LoadPlan(address: target.address)
        load.connectionCount = shape.connectionCount
        load.depth = shape.depth
        load.processors = processors
        load.warmUpNanoseconds = UInt64(warmUpSeconds * 1e9)
        load.roundNanoseconds = UInt64(seconds * 1e9)
        load.roundCount = 1
        load.seed = plan.seed &+ UInt64(round)
        let outcome: LoadOutcome
        do throws(LoadError) {
            outcome = try LoadRun(load, script(for: target.kind)).finish()
        } catch {
            throw CommandFailure(.unavailable, "\(target.name), \(shape.title): \(error)")
        }
        return try Self.sample(outcome, of: target, shape)
    }

    /// What a server of a kind is asked.
    func script(for kind: CompareTarget.Kind) -> LoadScript {
        func peer(_ peer: PeerScript.Peer) -> LoadScript {
            .peer(PeerScript(peer: peer, customerCount: plan.customerCount))
        }
        return switch kind {
        case .entitled:
            .check(CheckScript(population: plan.checkPopulation(), selection: .uniform))
        case .echo: .echo(CompareFrames.echo(plan, answerByteCount: echoByteCount))
        case .redis: peer(.redis)
        case .memcached: peer(.memcached)
        case .postgresql: peer(.postgresql)
        case .grpc: peer(.grpc)
        }
    }

    /// - Throws: `CommandFailure` when an answer was wrong or missing.
    static func sample(
        _ outcome: LoadOutcome, of target: CompareTarget, _ shape: CompareShape
    ) throws(CommandFailure) -> CompareSample {
        if Interruption.signalNumber != nil { throw .interrupted }
        if let wrong = outcome.wrongAnswers.first {
            throw CommandFailure(
                .failed,
                "\(target.name), \(shape.title): \(outcome.wrongCount) wrong answers:"
                    + " \(wrong.what)",
                hint: "expected \(text(wrong.expected)), found \(text(wrong.found))")
        }
        guard outcome.missingCount == 0, let round = outcome.rounds.first, round.answerCount > 0
        else {
            throw CommandFailure(.failed, "\(target.name), \(shape.title): answers are missing")
        }
        return CompareSample(
            answersPerSecond: round.answersPerSecond,
            medianNanoseconds: round.latencies.value(at: 0.5),
            p99Nanoseconds: round.latencies.value(at: 0.99),
            generatorBusyShare: outcome.generatorBusyShare)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "something else" : "`\(String(decoding: bytes.prefix(120), as: UTF8.self))`"
    }
}

/// The frames that an echo stands in for.
enum CompareFrames {
    private static let frameByteCountMax = 4_096
    /// Customers whose answers are measured for their mean.
    private static let sampleCount = 1_000

    /// A request about a customer of the population, and an answer of so many bytes, filled as
    /// `Tools/Peers/echo.c` fills it: its prefix, and `e` over and over.
    static func echo(_ plan: SeedPlan, answerByteCount: Int) -> EchoScript {
        let customer = Message.CustomerRef.customerID(Text(plan.name(of: 0)))
        let check = Message.CheckAccessRequest(
            customer: customer, subject: .product(Text(plan.product(of: 0))))
        let request = frame { output, arena throws(WireError) in
            try Request(id: 1 << 28, call: .checkAccess(check)).encodeFrame(
                into: &output, in: arena, frameByteCountMax: frameByteCountMax)
        }
        let body = answerByteCount - FrameDecoder.prefixByteCount
        let prefix = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body >> $0) }
        return EchoScript(
            request: request,
            answer: prefix + Array(repeating: UInt8(ascii: "e"), count: max(1, body)))
    }

    /// The mean size of an answer to a check of the population, prefix included.
    static func answerByteCount(_ plan: SeedPlan) -> Int {
        let count = min(sampleCount, plan.customerCount)
        let sum = (0..<count).reduce(0) { sum, index in
            sum + answer(plan.expectation(of: index), revision: UInt64(plan.customerCount)).count
        }
        return (sum + count / 2) / count
    }

    private static func answer(_ expected: SeedExpectation, revision: UInt64) -> [UInt8] {
        var answer = Message.CheckAccessResponse()
        answer.granted = expected.isGranted
        answer.reason = Message.Reason(rawValue: Int32(expected.reason.rawValue))
        answer.ownership = Message.Ownership(rawValue: Int32(expected.ownership.rawValue))
        answer.validUntilMilliseconds = expected.validUntil
        answer.productID = Text(expected.productID)
        answer.transactionID = Text(expected.transactionID)
        answer.originalTransactionID = Text(expected.originalTransactionID)
        answer.revision = revision
        return frame { output, arena throws(WireError) in
            try Response(id: 1 << 28, result: .checkAccess(answer)).encodeFrame(
                into: &output, in: arena, frameByteCountMax: frameByteCountMax)
        }
    }

    private static func frame(
        _ encode: (inout OutputBuffer, MessageArena) throws(WireError) -> Void
    ) -> [UInt8] {
        var output = OutputBuffer()
        do throws(WireError) {
            try encode(&output, MessageArena())
        } catch {
            preconditionFailure("a message of known size does not fit: \(error)")
        }
        var bytes: [UInt8] = []
        let span = output.bytes
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }
}
