internal import EventLoop
internal import LoadGenerator
internal import ToolSupport

/// What the flags of a run say: how hard, how long, against what.
struct LoadOptions: Equatable, Sendable {
    var connectionCount: Int
    var depth: Int
    var customerCount: Int
    /// Seconds of one round.
    var seconds: Double
    var warmUpSeconds: Double
    var roundCount: Int
    /// Requests per second of an open loop; nil = a closed one.
    var rate: Double?
    var arrivals: LoadPlan.Arrivals
    var threadCount: Int
    /// Checks in one request of `check-batch`.
    var batchCount: Int
    /// Draws the population and the requests.
    var seed: UInt64
    /// Whether an own server speaks TLS.
    var speaksTLS: Bool
    /// Processors of an own server, and of the generator.
    var serverProcessors: [Int]
    var generatorProcessors: [Int]

    /// The longest run, in seconds: warm-up and rounds together.
    static let secondsMax = 86_400.0

    /// The flags that say it.
    static let flags: [Flag] = [
        .value("connections", "N", "connections over all generator threads [16]"),
        .value("depth", "N", "requests in flight on each connection [16]"),
        .value("customers", "N", "the population, e.g. 20k or 10m [20k]"),
        .value("seconds", "S", "length of a round [5]"),
        .value("warmup", "S", "seconds before the first round, not counted [1]"),
        .value("rounds", "N", "how many rounds [3]"),
        .value("rate", "R", "open loop: so many requests a second, whatever comes back"),
        .value("arrivals", "KIND", "open loop: constant or poisson [constant]"),
        .value("batch", "N", "checks in one request of check-batch [100]"),
        .value("seed", "N", "draws the population and the requests [4711]"),
        .toggle("tls", "speak TLS with the server that is started"),
        .value("generator-threads", "N", "threads of the generator [1]"),
        .value("generator-cpus", "LIST", "processors of the generator, e.g. 1 or 2-3"),
        .value("server-cpus", "LIST", "processors of the server that is started"),
    ]

    /// - Throws: `CommandFailure` when a value is wrong, or values do not go together.
    init(_ bench: Bench) throws(CommandFailure) {
        connectionCount =
            try bench.number("connections", in: 1...LoadPlan.connectionCountMax) ?? 16
        depth = try bench.number("depth", in: 1...LoadPlan.depthMax) ?? 16
        customerCount =
            try bench.number("customers", in: 1...SeedPlan.customerCountMax) ?? 20_000
        seconds = try bench.decimal("seconds", in: 0.05...3_600) ?? 5
        warmUpSeconds = try bench.decimal("warmup", in: 0...600) ?? 1
        roundCount = try bench.number("rounds", in: 1...LoadPlan.roundCountMax) ?? 3
        rate = try bench.decimal("rate", in: 1...50_000_000)
        batchCount = try bench.number("batch", in: 2...1_000) ?? 100
        seed = UInt64(try bench.number("seed", in: 0...Int.max) ?? Int(SeedPlan.seedDefault))
        threadCount =
            try bench.number("generator-threads", in: 1...LoadPlan.threadCountMax) ?? 1
        speaksTLS = bench.has("tls")
        serverProcessors = try bench.processors("server-cpus")
        generatorProcessors = try bench.processors("generator-cpus")
        switch bench.value("arrivals") {
        case nil: arrivals = .constant
        case let text?:
            guard let kind = LoadPlan.Arrivals(rawValue: text) else {
                throw CommandFailure(.usage, "--arrivals: `\(text)` is not constant or poisson")
            }
            arrivals = kind
        }
        try check(bench)
        chooseProcessors()
    }

    private func check(_ bench: Bench) throws(CommandFailure) {
        if bench.value("arrivals") != nil, rate == nil {
            throw CommandFailure(.usage, "--arrivals is of an open loop: name its --rate")
        }
        if threadCount > connectionCount {
            throw CommandFailure(
                .usage, "--generator-threads \(threadCount) have \(connectionCount) connections")
        }
        if connectionCount * depth > 1 << 22 {
            throw CommandFailure(
                .usage, "\(connectionCount) connections x \(depth) in flight is more than 4 million"
            )
        }
        if warmUpSeconds + seconds * Double(roundCount) > Self.secondsMax {
            throw CommandFailure(.usage, "the run would be longer than a day")
        }
    }

    /// Two processors or more: the generator gets the last ones, one per thread, the server the
    /// others. Sharing one would measure how the system divides it.
    private mutating func chooseProcessors() {
        let available = Processors.available
        guard serverProcessors.isEmpty, generatorProcessors.isEmpty, available.count >= 2 else {
            return
        }
        let count = min(threadCount, available.count - 1)
        generatorProcessors = Array(available.suffix(count))
        serverProcessors = Array(available.dropLast(count))
    }

    /// The plan of a run against a server.
    ///
    /// - Throws: `CommandFailure` when it is to speak TLS and cannot.
    func plan(_ target: BenchTarget) throws(CommandFailure) -> LoadPlan {
        var plan = plan(target.address)
        plan.tls = try target.tls.map { (tls) throws(CommandFailure) in try tls.load() }
        return plan
    }

    /// The plan of a run against an address, in plain text.
    func plan(_ address: SocketAddress) -> LoadPlan {
        var plan = LoadPlan(address: address)
        plan.connectionCount = connectionCount
        plan.depth = depth
        plan.threadCount = threadCount
        plan.processors = generatorProcessors
        if let rate { plan.pace = .open(requestsPerSecond: rate, arrivals: arrivals) }
        plan.warmUpNanoseconds = UInt64(warmUpSeconds * 1e9)
        plan.roundNanoseconds = UInt64(seconds * 1e9)
        plan.roundCount = roundCount
        plan.seed = seed
        return plan
    }

    /// `16 connections x 64 in flight, closed loop, 3 rounds of 5 s after 1 s of warm-up`.
    var sentence: String {
        let loop =
            rate.map { "\(arrivals.rawValue) open loop of \(Figure.rate($0))" } ?? "closed loop"
        let rounds = roundCount == 1 ? "1 round" : "\(roundCount) rounds"
        let connections = connectionCount == 1 ? "1 connection" : "\(connectionCount) connections"
        return "\(connections) x \(depth) in flight, \(loop), \(rounds) of"
            + " \(Figure.short(seconds)) s after \(Figure.short(warmUpSeconds)) s of warm-up"
    }
}
