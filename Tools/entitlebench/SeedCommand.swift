internal import EntitledClient
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// The authority that signs for a server that somebody else runs: a file that is kept.
enum SeedAuthority {
    /// Who signs what `--authority` says that the server trusts; nil without the flag.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read or is none.
    static func signer(_ bench: Bench) throws(CommandFailure) -> SeedSigner? {
        guard let path = bench.value("authority") else { return nil }
        let bytes = try SystemCalls.readFile(path)
        do throws(RehearsalAuthorityError) {
            return SeedSigner(app: SeedApp(), authority: try RehearsalAuthority(stored: bytes))
        } catch {
            throw CommandFailure(.failed, "\(path): \(error.description)")
        }
    }

    /// Makes a new authority: it is kept in `path`, and `path` with `.root.pem` behind it is what
    /// a server is to trust.
    ///
    /// - Throws: `CommandFailure` when there is such a file already, or it cannot be written.
    static func make(_ path: String) throws(CommandFailure) -> String {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.conflict, "\(path): there is such a file")
        }
        let root = path + ".root.pem"
        let (stored, rootPEM): ([UInt8], [UInt8])
        do throws(RehearsalAuthorityError) {
            let authority = try RehearsalAuthority()
            (stored, rootPEM) = (try authority.stored(), authority.rootPEM)
        } catch {
            throw CommandFailure(.failed, "no test certificates: \(error.description)")
        }
        try SystemCalls.writeFile(path, stored)
        try SystemCalls.writeFile(root, rootPEM)
        return root
    }
}

/// `seed`: fills a server with the population by the calls of a backend, all of it signed.
enum SeedCommand {
    static let command = BenchCommand(
        words: ["seed"], operands: [],
        flags: LoadOptions.flags + [
            .value("target", "ADDRESS", "a server to fill; without it one is started and ended"),
            .value("server", "PATH", "the program to start without --target [beside this tool]"),
            .value("server-flags", "TEXT", "further flags of the server that is started"),
            .toggle("allow-remote", "let --target be another machine"),
            .value("authority", "FILE", "the authority that --target trusts"),
            Bench.keyFile,
            .value(
                "make-authority", "FILE", "make one, and its root to trust, and do nothing else"),
        ],
        summary: "fill a server with customers through real calls, real signatures",
        details: [
            "Each customer's transactions go in by IngestTransactions under his name; every answer",
            "is checked. `run --target` then knows what to expect of that server. Seeding a server",
            "that is started for it measures the seeding itself.",
        ],
        examples: [
            (
                "entitlebench seed --make-authority ca.pem",
                "then: entitled --apple-root"
                    + " ca.pem.root.pem --allow-test-root ..."
            ),
            (
                "entitlebench seed --target 127.0.0.1:7420 --authority ca.pem --customers 20k",
                "fill that server"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        if let path = bench.value("make-authority") {
            let root = try SeedAuthority.make(path)
            bench.console.print(Line("trust \(root): --apple-root \(root) --allow-test-root"))
            return .success
        }
        let options = try LoadOptions(bench)
        let plan = SeedPlan(seed: options.seed, customerCount: options.customerCount)
        Interruption.watch(endsAtOnce: true)
        if let address = bench.value("target") {
            report(try await fill(foreign: address, plan, bench), bench)
        } else {
            report(try await fillOwnServer(plan, options, bench), bench)
        }
        return .success
    }

    private static func fill(
        foreign address: String, _ plan: SeedPlan, _ bench: Bench
    ) async throws(CommandFailure) -> SeedIngest.Outcome {
        guard let signer = try SeedAuthority.signer(bench) else {
            throw CommandFailure(.usage, "--target needs --authority: who signs what it trusts?")
        }
        let target = try BenchTarget(
            foreign: address, allowsRemote: bench.has("allow-remote"), signer: signer)
        return try await fill(
            target.facts.name, plan, signer, bench, apiKey: try bench.apiKey())
    }

    private static func fillOwnServer(
        _ plan: SeedPlan, _ options: LoadOptions, _ bench: Bench
    ) async throws(CommandFailure) -> SeedIngest.Outcome {
        let program = try ServerPlace.findProgram(
            named: bench.value("server"), environment: bench.environment)
        let flags = (bench.value("server-flags") ?? "").split(separator: " ").map(String.init)
        let own = try await OwnServer(
            program: program, seed: SeedPlan(customerCount: 0), options: options, flags: flags,
            environment: bench.environment, console: bench.console)
        let result: Result<SeedIngest.Outcome, CommandFailure>
        do throws(CommandFailure) {
            result = .success(try await fill(own.server.address, plan, own.signer, bench))
        } catch { result = .failure(error) }
        _ = await own.end()
        return try result.get()
    }

    private static func fill(
        _ address: String, _ plan: SeedPlan, _ signer: SeedSigner, _ bench: Bench,
        apiKey: String = ""
    ) async throws(CommandFailure) -> SeedIngest.Outcome {
        let progress = Progress(console: bench.console, noun: "customers")
        defer { progress.erase() }
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(30)
        configuration.apiKey = apiKey
        let client: Client
        do throws(ClientError) {
            client = try Client(address: address, configuration: configuration)
        } catch {
            throw CommandFailure(.failed, "\(address): \(error)")
        }
        defer { client.close() }
        let seeding = SeedIngest(
            plan: plan, signer: signer, threadCount: Processors.available.count,
            onProgress: { progress.update(done: $0, total: plan.customerCount) })
        return try await seeding.run(0..<plan.customerCount, on: client)
    }

    private static func report(_ outcome: SeedIngest.Outcome, _ bench: Bench) {
        let seconds = Double(outcome.signingNanoseconds + outcome.sendingNanoseconds) / 1e9
        let remarks = [
            Remarks.count("customers", UInt64(outcome.customerCount)),
            Remarks.count("signatures", UInt64(outcome.signatureCount)),
            Remarks.rate("signing", outcome.signaturesPerSecond),
            Remarks.rate("customers taken", outcome.customersPerSecond),
            ("seconds", Figure.fixed(seconds, 2), .number(seconds)),
        ]
        if bench.isJSON {
            bench.console.print(JSONValue.object(remarks.map { ($0.name, $0.value) }))
        } else {
            bench.console.print(Table.pairs(remarks.map { ($0.name, Table.Cell($0.text)) }))
        }
    }
}
