internal import EntitledClient
internal import LoadGenerator
internal import ToolSupport

/// The workloads that change what a server knows.
enum WriteWorkloads {
    /// Notifications and nothing else.
    static let ingest = Workload(
        "ingest", "notifications with three signatures each, every one durable",
        changesData: true
    ) { (run) throws(CommandFailure) in try await write(run, .ingestOnly) }

    /// What a busy app does.
    static let mixed = Workload(
        "mixed", "95 % CheckAccess, 5 % notifications; checks must see what was acknowledged",
        changesData: true
    ) { (run) throws(CommandFailure) in try await write(run, .mixed) }

    /// Rebuilds of customers with long histories.
    static let rebuildStorm = Workload(
        "rebuild-storm", "RebuildCustomer of 1,000 transactions, without a pause, beside checks",
        heavyCustomerCount: 64, body: storm)

    /// Families that lose what they shared.
    static let familyRefund = Workload(
        "family-refund", "a refund and five REVOKEs per family, all six asked about throughout",
        changesData: true, body: families)

    private static func signer(_ run: WorkloadRun) throws(CommandFailure) -> SeedSigner {
        guard let signer = run.target.signer else {
            throw CommandFailure(
                .usage, "\(run.name) hands in signed data, and --target trusts nobody here",
                hint: "name the --authority that the server trusts, or leave --target out")
        }
        return signer
    }

    private static func client(_ run: WorkloadRun) throws(CommandFailure) -> Client {
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(30)
        configuration.tls = run.target.tls?.client
        configuration.apiKey = run.target.apiKey
        do throws(ClientError) {
            return try Client(address: run.target.facts.name, configuration: configuration)
        } catch {
            throw CommandFailure(.failed, "\(run.target.facts.name): \(error)")
        }
    }

    // MARK: ingest, mixed

    private static func write(
        _ run: WorkloadRun, _ mix: WriteMix
    ) async throws(CommandFailure) -> LoadReport {
        let signer = try signer(run)
        let options = run.options
        let seconds = options.warmUpSeconds + options.seconds * Double(options.roundCount)
        let client = try client(run)
        defer { client.close() }
        let first = try await firstEvent(run, client)
        let perSecond =
            WriteRun.eventsPerSecondMax * Double(max(1, options.serverProcessors.count))
        let clock = ContinuousClock()
        let start = clock.now
        let stock: WriteStock
        do {
            stock = try WriteStock(
                WriteEvents(plan: run.seed), signer: signer, from: first,
                count: Int(seconds * perSecond), threadCount: Processors.available.count)
        } catch {
            throw CommandFailure(.failed, "notifications cannot be signed: \(error)")
        }
        let signing = Double((clock.now - start).nanoseconds) / 1e9
        let outcome = try WriteRun(
            load: try options.plan(run.target), mix: mix, stock: stock, oracle: WriteOracle(),
            serverID: run.target.processID, apiKey: run.target.apiKey
        ).run()
        var report = run.report(outcome.load)
        report.remarks = outcome.remarks(
            mix, signaturesPerSecond: seconds * perSecond * 3 / max(signing, 1e-9))
        return report
    }

    /// The first event that did not happen yet: a server of our own has had none.
    private static func firstEvent(
        _ run: WorkloadRun, _ client: Client
    ) async throws(CommandFailure) -> Int {
        guard run.target.processID == nil else { return 0 }
        do throws(ClientError) {
            // Each revision beyond those of the seeding was one event at most.
            let revision = try await client.serverInfo().revision
            let rounds =
                (revision + UInt64(run.seed.customerCount)) / UInt64(run.seed.customerCount)
            return Int(rounds) * run.seed.customerCount
        } catch {
            throw CommandFailure(.unavailable, "\(run.target.facts.name): \(error)")
        }
    }

    // MARK: rebuild-storm

    @Sendable private static func storm(
        _ run: WorkloadRun
    ) async throws(CommandFailure) -> LoadReport {
        let client = try client(run)
        defer { client.close() }
        var load = try run.options.plan(run.target)
        if run.options.rate == nil {
            // A closed loop would slow down with the server and hide what the storm does.
            load.pace = .open(requestsPerSecond: 20_000, arrivals: .poisson)
        }
        var population = run.seed.checkPopulation()
        population.apiKey = run.target.apiKey
        let checks = LoadScript.check(CheckScript(population: population, selection: .uniform))
        let outcome = try await WriteStorm(plan: run.seed, load: load, checks: checks)
            .run(on: client)
        guard outcome.idle.isRight else { return run.report(outcome.idle) }
        var report = run.report(outcome.storm)
        let rebuilds = outcome.rebuilds
        let idle = outcome.idle.latencies
        report.remarks = [
            Remarks.latency("rebuild", rebuilds),
            Remarks.count("rebuilds", rebuilds.count),
            Remarks.latency("check, idle", idle),
            Remarks.latency("check, storm", outcome.storm.latencies),
            Remarks.ratio("check p99, storm to idle", outcome.checkRatio),
        ]
        return report
    }

    // MARK: family-refund

    @Sendable private static func families(
        _ run: WorkloadRun
    ) async throws(CommandFailure) -> LoadReport {
        let signer = try signer(run)
        let client = try client(run)
        defer { client.close() }
        let work = WriteFamilies(
            plan: run.seed, signer: signer, familyCountAtOnce: run.options.connectionCount)
        // A hundred families are a second of work; each can lose its purchase only once.
        let seconds = run.options.seconds * Double(run.options.roundCount)
        let families = work.families(countMax: max(1, Int(seconds * 100)))
        guard !families.isEmpty else {
            throw CommandFailure(
                .usage, "there is no family among \(run.seed.customerCount) customers")
        }
        let outcome = try await work.run(families, on: client)
        var report = run.report(outcome.loadOutcome)
        report.remarks = [
            Remarks.count("families", UInt64(outcome.familyCount)),
            Remarks.count("checks", UInt64(outcome.checkCount)),
            Remarks.count("checks after the end", UInt64(outcome.checkCountAfterEnd)),
            Remarks.latency("notification", outcome.ingests),
        ]
        return report
    }
}
