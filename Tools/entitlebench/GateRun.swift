internal import Authorization
internal import EventLoop
internal import FoundationEssentials
internal import ToolSupport
internal import Wire

/// Starts a server with the counter in it, puts known work to it, and says what that took.
struct GateRun: Sendable {
    /// The server's program.
    var program: String
    /// The library that counts.
    var counter: String
    /// The environment variables of the server.
    var environment: [String: String]
    /// Told of each step.
    var note: @Sendable (String) -> Void

    private static let shapes = [(1, 1), (1, 16), (16, 1), (16, 16)]
    private static let keyedShapes = [(1, 1), (1, 16), (16, 16)]
    /// Checks of one shape that are counted.
    private static let checkCount = 51_200
    /// Notifications in flight where groups of them are looked at.
    private static let ingestDepth = 16
    /// Notifications handed in one at a time before anything is counted: the first ones pay for
    /// tables that grow.
    private static let ingestWarmUpCount = 128
    /// Notifications handed in one at a time that are counted.
    private static let singleIngestCount = 512
    /// What the keyed scenarios show to a server that asks for it: of no secret, for it is known.
    private static let apiKey = "entk_gate_" + String(repeating: "g", count: 49)
    private static let idleSeconds: Int64 = 3

    /// Measures all scenarios.
    ///
    /// - Throws: `CommandFailure` where the server does not start, or answers wrongly.
    func measure() async throws(CommandFailure) -> [GateMeasurement] {
        let seed = try GateSeed(nowMilliseconds: WallClock.nowMilliseconds)
        let directory = try ServerPlace.makeDirectory("entitled-gate")
        defer { ServerPlace.removeDirectory(directory) }
        let server = try await start(directory, seed)
        let measurements: [GateMeasurement]
        do throws(CommandFailure) {
            measurements = try measure(server.address, seed, Self.countsPath(directory))
        } catch {
            _ = await server.end()
            throw error
        }
        try await server.stop()
        return try measurements + (await measureKeyed(directory, seed))
    }

    /// The same checks on the same data, of callers who say who they are.
    private func measureKeyed(
        _ directory: String, _ seed: GateSeed
    ) async throws(CommandFailure) -> [GateMeasurement] {
        let path = directory + "/keys.jsonl"
        let record = KeyRecord(
            id: "gate", name: "gate", credential: .key(KeyText.digest(of: Self.apiKey)),
            roles: [.check], apps: [KeyApp(bundleID: GateSeed.bundleID)])
        try SystemCalls.replaceFile(path, Array((record.line + "\n").utf8))
        let server = try await start(directory, seed, ["--auth-keys-file", path])
        let measurements: [GateMeasurement]
        do throws(CommandFailure) {
            let target = try Self.target(server.address)
            measurements = try Self.keyedShapes.map { (connections, depth) throws(CommandFailure) in
                try checks(
                    "keyed check", GateSeed.check, target, connections, depth,
                    Self.countsPath(directory), apiKey: Text(Self.apiKey))
            }
        } catch {
            _ = await server.end()
            throw error
        }
        try await server.stop()
        return measurements
    }

    private static func target(_ address: String) throws(CommandFailure) -> SocketAddress {
        do throws(AddressError) {
            return try SocketAddress(address)
        } catch {
            throw CommandFailure(.failed, "\(address): \(error)")
        }
    }

    private static func countsPath(_ directory: String) -> String { directory + "/counts" }

    private func start(
        _ directory: String, _ seed: GateSeed, _ flags: [String] = []
    ) async throws(CommandFailure) -> ServerProcess {
        do {
            try Data(seed.rootPEM).write(to: URL(filePath: directory + "/root.pem"))
        } catch {
            throw CommandFailure(.failed, "\(directory): it cannot be written")
        }
        var launch = ServerProcess.Launch(
            program: program,
            arguments: [
                "--bundle-id", GateSeed.bundleID, "--app-apple-id", "\(GateSeed.appAppleID)",
                "--data", directory + "/data", "--apple-root", directory + "/root.pem",
                "--allow-test-root", "--threads", "1", "--workers", "1",
                // What the meter has counted is stored when the server ends, not while we count.
                "--metering-interval", "1h",
            ] + flags,
            directory: directory, environment: environment)
        launch.environment["LD_PRELOAD"] = counter
        launch.environment["CALL_COUNTER_FILE"] = Self.countsPath(directory)
        return try await ServerProcess(launch)
    }

    private func measure(
        _ address: String, _ seed: GateSeed, _ path: String
    ) throws(CommandFailure) -> [GateMeasurement] {
        let target = try Self.target(address)
        guard GateCounts(path: path) != nil else {
            throw CommandFailure(
                .failed, "\(counter): the server does not count with it",
                hint: "name libCCallCounter.so with --counter PATH; it needs Linux and glibc")
        }
        var measurements = try ingests(target, seed, path)
        for (connections, depth) in Self.shapes {
            measurements.append(
                try checks("check", GateSeed.check, target, connections, depth, path))
        }
        measurements.append(try checks("token", GateSeed.tokenCheck, target, 1, 16, path))
        measurements.append(try idle(target, path))
        return measurements
    }

    // MARK: Scenarios

    /// One notification at a time, then many at once.
    ///
    /// How many of many come into one commit is decided by threads, and what a commit allocates is
    /// shared among them: so allocations and bytes are counted where every commit has exactly one,
    /// and of many it only matters that no more is synced than comes in.
    private func ingests(
        _ target: SocketAddress, _ seed: GateSeed, _ path: String
    ) throws(CommandFailure) -> [GateMeasurement] {
        let singleCount = Self.ingestWarmUpCount + Self.singleIngestCount
        var singles = GateTraffic(address: target, call: seed.ingest) { GateSeed.isApplied($1) }
        singles.warmUpRoundCount = Self.ingestWarmUpCount
        singles.roundCount = Self.singleIngestCount
        var groups = GateTraffic(
            address: target, call: { seed.ingest(singleCount + $0) },
            isRight: { GateSeed.isApplied($1) })
        groups.depth = Self.ingestDepth
        groups.warmUpRoundCount = 1
        groups.roundCount =
            (GateSeed.customerCount - singleCount) / Self.ingestDepth - groups.warmUpRoundCount
        let measurements = [
            try count("ingest 1x1", singles, path),
            try count("ingest 1x\(Self.ingestDepth)", groups, path),
        ]
        var links = GateTraffic(address: target, call: GateSeed.link) { $1.status == .ok }
        links.depth = Self.ingestDepth
        links.roundCount = GateSeed.customerCount / Self.ingestDepth
        try run(links) { _ in }
        return measurements
    }

    private func checks(
        _ name: String, _ call: @escaping @Sendable (Int) -> Request.Call,
        _ target: SocketAddress, _ connections: Int, _ depth: Int, _ path: String,
        apiKey: Text = Text()
    ) throws(CommandFailure) -> GateMeasurement {
        var traffic = GateTraffic(
            address: target, call: call, isRight: GateSeed.isGranted)
        traffic.apiKey = apiKey
        traffic.connectionCount = connections
        traffic.depth = depth
        traffic.warmUpRoundCount = max(1, 4_096 / (connections * depth))
        traffic.roundCount = Self.checkCount / (connections * depth)
        return try count("\(name) \(connections)x\(depth)", traffic, path)
    }

    /// Sixteen clients that are connected and ask nothing.
    private func idle(
        _ target: SocketAddress, _ path: String
    ) throws(CommandFailure) -> GateMeasurement {
        let counted = Locked<(before: GateCounts?, after: GateCounts?)>((nil, nil))
        var traffic = GateTraffic(
            address: target, call: GateSeed.check, isRight: GateSeed.isGranted)
        traffic.connectionCount = 16
        try run(traffic) { isOver in
            guard isOver else { return }
            // Deadlines of what was asked before fire into nothing, the last one after a second.
            Doorbell().wait(milliseconds: 2_000)
            let before = GateCounts(path: path)
            Doorbell().wait(milliseconds: Self.idleSeconds * 1_000)
            let after = GateCounts(path: path)
            counted.withLock { $0 = (before, after) }
        }
        let (before, after) = counted.withLock { $0 }
        return try Self.measurement("idle", 1, before, after)
    }

    // MARK: Counting

    private func count(
        _ scenario: String, _ traffic: GateTraffic, _ path: String
    ) throws(CommandFailure) -> GateMeasurement {
        let counted = Locked<(before: GateCounts?, after: GateCounts?)>((nil, nil))
        note("\(scenario): \(traffic.operationCount) requests")
        try run(traffic) { isOver in
            let counts = GateCounts(path: path)
            counted.withLock { if isOver { $0.after = counts } else { $0.before = counts } }
        }
        let (before, after) = counted.withLock { $0 }
        return try Self.measurement(scenario, traffic.operationCount, before, after)
    }

    private func run(
        _ traffic: GateTraffic, _ counting: @escaping @Sendable (Bool) -> Void
    ) throws(CommandFailure) {
        do throws(GateTraffic.Failure) {
            try traffic.run(counting)
        } catch {
            throw CommandFailure(.failed, error.description)
        }
    }

    private static func measurement(
        _ scenario: String, _ operationCount: Int, _ before: GateCounts?, _ after: GateCounts?
    ) throws(CommandFailure) -> GateMeasurement {
        guard let before, let after else {
            throw CommandFailure(.failed, "\(scenario): the counts cannot be read")
        }
        return GateMeasurement(
            scenario: scenario, operationCount: operationCount, counts: after.since(before))
    }
}
