internal import EntitledClient
internal import EventLoop
internal import FoundationEssentials
internal import LoadGenerator
internal import TestSupport
internal import ToolSupport

/// What becomes of a server when it has ten times the customers, and again ten times.
///
/// For each size a store is made by a bulk load, read bare, and a server is started on it; then it
/// is asked, cold and warm, and fed. All of it is removed before the next size.
struct ScaleRun: Sendable {
    /// The server's program.
    let program: String
    /// Where stores are made; exists.
    let directory: String
    /// Processors of the server and of the generator.
    let serverProcessors: [Int]
    let generatorProcessors: [Int]
    /// Environment variables of the server.
    let environment: [String: String]
    /// Flags of the server besides those that a run needs.
    var serverFlags: [String] = []
    /// Transactions of one customer beside the others.
    var heavyTransactionCount = 50_000
    /// Seconds of each measurement.
    var seconds = 3.0
    /// Told what is done now.
    var onStep: @Sendable (String) -> Void = { _ in }

    /// Runs one size.
    ///
    /// - Throws: `CommandFailure`; nothing is left on disk then either.
    func measure(customerCount: Int) async throws(CommandFailure) -> ScaleFigures {
        let signer: SeedSigner
        do throws(RehearsalAuthorityError) {
            signer = SeedSigner(app: SeedApp(), authority: try RehearsalAuthority())
        } catch {
            throw CommandFailure(.failed, "no test certificates: \(error.description)")
        }
        let plan = SeedPlan(
            customerCount: customerCount, heavyCustomerCount: heavyTransactionCount > 0 ? 1 : 0,
            heavyTransactionCount: max(1, heavyTransactionCount))
        let place = "\(directory)/scale-\(customerCount)"
        defer { ServerPlace.removeDirectory(place) }
        var figures = ScaleFigures(customerCount: customerCount)
        try load(plan, signer, into: place, &figures)
        onStep("\(customerCount) customers: bare reads")
        figures.readNanoseconds = try ScaleProbe.nanoseconds(
            plan, directory: place + "/data", seconds: seconds)
        try await serve(plan, signer, in: place, &figures)
        return figures
    }

    private func load(
        _ plan: SeedPlan, _ signer: SeedSigner, into place: String, _ figures: inout ScaleFigures
    ) throws(CommandFailure) {
        onStep("\(plan.customerCount) customers: bulk load")
        let app = signer.app
        let configuration = """
            { apps: [{ bundleId: "\(app.bundleID)", appAppleId: \(app.appAppleID),
                       environments: ["Production"] }] }
            """
        let clock = ContinuousClock()
        let start = clock.now
        do {
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            try BulkLoad(
                plan: plan, app: app, directory: place + "/data",
                threadCount: Processors.available.count,
                receivedMilliseconds: SystemCalls.nowMilliseconds
            ).run()
        } catch {
            if Interruption.signalNumber != nil { throw .interrupted }
            throw CommandFailure(.failed, "the bulk load failed: \(error)")
        }
        figures.loadSeconds = Double((clock.now - start).nanoseconds) / 1e9
        figures.diskByteCount = ScaleProbe.byteCount(of: place + "/data")
        try SystemCalls.writeFile(place + "/root.pem", signer.authority.rootPEM)
        try SystemCalls.writeFile(place + "/entitled.json5", Array(configuration.utf8))
    }

    private func serve(
        _ plan: SeedPlan, _ signer: SeedSigner, in place: String, _ figures: inout ScaleFigures
    ) async throws(CommandFailure) {
        let threadCount = max(1, serverProcessors.count)
        var launch = ServerProcess.Launch(
            program: program,
            arguments: [
                "--config", place + "/entitled.json5", "--data", place + "/data",
                "--apple-root", place + "/root.pem", "--allow-test-root",
                "--threads", "\(threadCount)", "--workers", "\(threadCount)",
            ] + serverFlags,
            directory: place, environment: environment)
        launch.processors = serverProcessors
        onStep("\(plan.customerCount) customers: start")
        let clock = ContinuousClock()
        let start = clock.now
        let server = try await ServerProcess(launch)
        var failure: CommandFailure?
        do throws(CommandFailure) {
            let scale = try ScaleServer(self, plan, signer, server, directory: place)
            try await scale.measure(since: start, &figures)
        } catch { failure = error }
        let end = await server.end()
        if let failure { throw failure }
        guard end == .exit(0) else {
            throw CommandFailure(.failed, "the server ended with \(end)")
        }
    }
}

/// What one size has shown. Times are in nanoseconds where nothing else is said.
struct ScaleFigures: Sendable {
    let customerCount: Int
    var loadSeconds = 0.0
    var diskByteCount: UInt64 = 0
    /// One bare point read of a snapshot by a customer drawn at random, once the files are in the
    /// system's cache.
    var readNanoseconds = 0.0
    /// From the start of the process to the first right answer.
    var firstAnswerNanoseconds: Int64 = 0
    /// Checks of customers drawn at random while verdicts are being read into memory.
    var cold = Histogram()
    /// Until all verdicts are in memory, from the start of reading them; nil: it did not end.
    var warmMilliseconds: Int64?
    /// Memory of the server once it is warm.
    var residentByteCount: UInt64 = 0
    /// Checks of customers drawn at random afterwards.
    var warm = Histogram()
    var warmPerSecond = 0.0
    /// Processor time of the server per check.
    var checkNanoseconds = 0.0
    /// Notifications into the customer with very many transactions: the first, and the median of
    /// the next ones.
    var heavyColdNanoseconds: UInt64 = 0
    var heavyHotNanoseconds: UInt64 = 0
    /// Medians of other kinds of notifications to him: a refund of his newest purchase and its
    /// reversal, a family copy and its REVOKE.
    var heavyRefundNanoseconds: UInt64 = 0
    var heavyReversalNanoseconds: UInt64 = 0
    var heavyCopyNanoseconds: UInt64 = 0
    var heavyRevokeNanoseconds: UInt64 = 0
    /// The median of rebuilds of him.
    var heavyRebuildNanoseconds: UInt64 = 0
    /// Notifications for everybody.
    var ingests = Histogram()
    var ingestsPerSecond = 0.0
    /// Processor time of the server per notification, and what its three verifications take of it.
    var ingestNanoseconds = 0.0
    var verificationNanoseconds = 0.0
    /// Checks while one request in twenty is a notification.
    var mixedChecks = Histogram()
}
