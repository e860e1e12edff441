internal import EntitledClient
internal import Synchronization
internal import TestSupport
internal import ToolSupport

/// Kills a server of its own again and again, and compares it after every start.
struct CrashRun: Sendable {
    /// How a round comes to its end.
    enum Kind: String, CaseIterable, Sendable {
        /// Killed in the middle of writes and checks.
        case plain
        /// Killed in its first moments, while what the log held is flushed and merged.
        case flush
        /// Killed during writes, then several times while it starts.
        case start
        /// Killed in the middle of rebuilds and names given.
        case storm
        /// The disk runs full under writes; killed before, while or after it does, started again
        /// on the full disk or on one with space. Only with a disk that may be filled.
        case full
    }

    /// What is done wrong on purpose, to see whether it is found.
    enum Canary: String, CaseIterable, Sendable {
        /// The last answered records are cut off the log, and the mark of what was answered is
        /// taken away, so that the server cannot know.
        case loseTail = "lose-tail"
        /// The last answered records are cut off the log, and the mark is left: the server must
        /// refuse to start.
        case cutTail = "cut-tail"
    }

    /// What came of one kind of rounds.
    struct Tally: Sendable {
        var roundCount = 0
        var killCount = 0
        var findings = CrashVerifier.Findings()
    }

    var program: String
    var roundCount = 200
    var seed: UInt64 = 1
    var connectionCount = 4
    var canary: Canary?
    /// Where the data go, where rounds may fill it.
    var disk: CrashDisk?
    /// Whether the last server is killed in the middle of writes, and its data left as they are.
    var leavesWork = false
    var environment: [String: String]
    var console: Console

    /// So many customers have all the events.
    static let customerCount = 480
    /// The longest time from a start's listening to the kill.
    private static let loadMillisecondsMax = 400
    /// Within this a start is killed that is to be killed while it starts.
    private static let startMillisecondsMax = 250
    /// Within this a server takes writes again when the disk has space.
    private static let recoveryPatience: Duration = .seconds(30)

    /// - Returns: what came of each kind of rounds, and the directory, which is kept when something
    ///   was lost.
    /// - Throws: `CommandFailure` where the server cannot be started, or refuses what it has to
    ///   serve.
    func run(_ bed: CrashBed) async throws(CommandFailure) -> [Kind: Tally] {
        var random = SeededGenerator(seed: seed)
        let kinds = Kind.allCases.filter { $0 != .full || disk != nil }
        var tallies: [Kind: Tally] = [:]
        let progress = Progress(console: console, noun: "rounds")
        let server = try await bed.start()
        do throws(CommandFailure) {
            for round in 0..<roundCount {
                if Interruption.signalNumber != nil { throw .interrupted }
                let kind = kinds[round % kinds.count]
                try await self.round(
                    kind, bed, server, &random, &tallies[kind, default: Tally()])
                progress.update(done: round + 1, total: roundCount)
                let hasLost = tallies.values.contains { !$0.findings.losses.isEmpty }
                if hasLost { break }
            }
            if !tallies.values.contains(where: { !$0.findings.losses.isEmpty }) {
                let all = bed.ledger.entries.keys.sorted()
                tallies[.plain, default: Tally()].add(try await verify(all, bed, server))
            }
            if leavesWork {
                _ = try await drive(.ingest, bed, server, random.next(), milliseconds: 700)
            }
        } catch {
            _ = await server.end()
            throw error
        }
        _ = await server.end()
        return tallies
    }

    /// Writes and checks for so long, then kills.
    ///
    /// - Returns: the wrong answers.
    private func drive(
        _ mix: CrashLoad.Mix, _ bed: CrashBed, _ server: ServerProcess, _ seed: UInt64,
        milliseconds: Int, meanwhile: @Sendable @escaping () async -> Void = {}
    ) async throws(CommandFailure) -> [String] {
        let wrong = CrashComplaints()
        let load = CrashLoad(
            address: server.address, ledger: bed.ledger, signer: bed.signer,
            connectionCount: connectionCount, mix: mix, seed: seed, onWrong: { wrong.add($0) })
        let process = server.process
        try await load.run {
            await meanwhile()
            try? await Task.sleep(for: .milliseconds(milliseconds))
            process.send(.kill)
        }
        if let end = await server.kill(), end != .signal(9) {
            wrong.add("the server ended by itself: \(end); \(bed.lastWords)")
        }
        bed.tables.withLock { $0.look(at: bed.dataPath + "/store") }
        return wrong.all
    }

    private func round(
        _ kind: Kind, _ bed: CrashBed, _ server: ServerProcess,
        _ random: inout SeededGenerator, _ tally: inout Tally
    ) async throws(CommandFailure) {
        tally.roundCount += 1
        if kind == .full, let disk {
            return try await roundOnFullDisk(disk, bed, server, &random, &tally)
        }
        let pause =
            kind == .flush
            ? random.number(0...40) : random.number(5...Self.loadMillisecondsMax)
        tally.findings.losses += try await drive(
            kind == .storm ? .storm : .ingest, bed, server, random.next(), milliseconds: pause)
        tally.killCount += 1
        if kind == .start { try await killStarts(bed, &random, &tally) }
        if let canary { try play(canary, bed) }
        try await server.start()
        let touched = bed.ledger.takeTouched()
        tally.add(try await verify(touched, bed, server))
    }

    /// Fills the disk under writes and kills; the server must serve all on the full disk, and take
    /// writes by itself when there is space.
    private func roundOnFullDisk(
        _ disk: CrashDisk, _ bed: CrashBed, _ server: ServerProcess,
        _ random: inout SeededGenerator, _ tally: inout Tally
    ) async throws(CommandFailure) {
        let before = random.number(0...200)
        tally.findings.losses += try await drive(
            .ingest, bed, server, random.next(),
            milliseconds: random.number(0...Self.loadMillisecondsMax),
            meanwhile: {
                try? await Task.sleep(for: .milliseconds(before))
                disk.fill()
            })
        tally.killCount += 1
        if random.oneIn(2) {
            try await server.start()
            let all = bed.ledger.entries.keys.sorted()
            tally.add(try await verify(all, bed, server, settles: false))
            if random.oneIn(2) {
                await server.kill()
                tally.killCount += 1
                disk.empty()
                try await server.start()
            } else {
                disk.empty()
                try await waitUntilWritable(bed, server)
            }
        } else {
            if random.oneIn(2) { try await killStarts(bed, &random, &tally) }
            disk.empty()
            try await server.start()
        }
        tally.add(try await verify(bed.ledger.takeTouched(), bed, server))
    }

    /// Hands events in until one is taken.
    private func waitUntilWritable(
        _ bed: CrashBed, _ server: ServerProcess
    ) async throws(CommandFailure) {
        let client = try CrashLoad.client(server.address)
        defer { client.close() }
        let clock = ContinuousClock()
        let limit = clock.now + Self.recoveryPatience
        while clock.now < limit {
            let event = bed.ledger.nextEvent()
            guard let body = CrashLoad.body(of: event, bed.ledger, bed.signer) else { continue }
            if let result = try? await client.ingestNotification(body) {
                return bed.ledger.acknowledge(event, revision: result.revision)
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw CommandFailure(
            .failed, "there is space, and the server takes no writes", hint: bed.lastWords)
    }

    /// Starts the server one to three times more and kills it at once.
    private func killStarts(
        _ bed: CrashBed, _ random: inout SeededGenerator, _ tally: inout Tally
    ) async throws(CommandFailure) {
        for _ in 0..<random.number(1...3) {
            let pause = random.number(0...Self.startMillisecondsMax)
            let process = try bed.spawn(data: bed.dataPath)
            try? await Task.sleep(for: .milliseconds(pause))
            process.send(.kill)
            let end = await process.waitForEnd()
            tally.killCount += 1
            if end != .signal(9) {
                tally.findings.losses.append(
                    "a start between two kills ended by itself: \(end);"
                        + " \(bed.lastWords)")
            }
        }
    }

    private func verify(
        _ customers: [Int], _ bed: CrashBed, _ server: ServerProcess, settles: Bool = true
    ) async throws(CommandFailure) -> CrashVerifier.Findings {
        let client = try CrashLoad.client(server.address)
        defer { client.close() }
        var verifier = CrashVerifier(ledger: bed.ledger, signer: bed.signer, client: client)
        verifier.settles = settles
        return try await verifier.verify(customers)
    }

    /// Cuts records off the newest log that holds some.
    private func play(_ canary: Canary, _ bed: CrashBed) throws(CommandFailure) {
        guard let log = CrashFiles.newestLog(in: bed.dataPath + "/store") else { return }
        let bytes = try CrashFiles.read(log)
        try CrashFiles.write(Array(bytes.prefix(CrashRecords.boundary(in: bytes))), to: log)
        if canary == .loseTail { CrashFiles.remove(bed.dataPath + "/ACKNOWLEDGED") }
    }
}

extension CrashRun.Tally {
    mutating func add(_ new: CrashVerifier.Findings) {
        findings.answerCount += new.answerCount
        findings.customerCount += new.customerCount
        findings.survivorCount += new.survivorCount
        findings.refusalCount += new.refusalCount
        findings.losses += new.losses
    }
}

/// Wrong answers, from any thread.
final class CrashComplaints: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }

    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}

/// Where the records of a log begin: enough to cut one as a file system would never, at its edge.
enum CrashRecords {
    private static let headerByteCount = 7
    private static let blockByteCount = 32 << 10

    /// The offset that leaves out the last third of the records, one at least; 0 for one record.
    static func boundary(in log: [UInt8]) -> Int {
        let starts = starts(in: log)
        guard starts.count > 1 else { return 0 }
        return starts[min(starts.count - 1, starts.count * 2 / 3)]
    }

    /// Where whole records, or their first pieces, begin.
    static func starts(in log: [UInt8]) -> [Int] {
        var starts: [Int] = []
        var offset = 0
        while offset + headerByteCount <= log.count {
            let rest = blockByteCount - offset % blockByteCount
            guard rest >= headerByteCount else {
                offset += rest
                continue
            }
            let type = log[offset + 6]
            guard type != 0 else { break }
            // FULL and FIRST.
            if type == 1 || type == 2 { starts.append(offset) }
            offset += headerByteCount + Int(log[offset + 4]) + Int(log[offset + 5]) << 8
        }
        return starts
    }
}

/// The directory of a run: the server's data, its configuration and logs, and beside them what it
/// has to know.
final class CrashBed: Sendable {
    /// Holds everything.
    let directory: String
    let ledger: CrashLedger
    let signer: SeedSigner
    private let launch: ServerProcess.Launch
    /// What was seen of the tables so far.
    let tables = Mutex(CrashTables())

    /// The data of the server.
    let dataPath: String
    /// The end of its log.
    var lastWords: String { String(CrashFiles.text(directory + "/stderr.log").suffix(400)) }

    /// - Throws: `CommandFailure`; nothing is left behind then.
    init(
        program: String, seed: UInt64, disk: CrashDisk? = nil, flags: [String] = [],
        environment: [String: String]
    ) throws(CommandFailure) {
        directory = try ServerPlace.makeDirectory("entitlebench-crash")
        let name = directory.split(separator: "/").last ?? ""
        dataPath = disk.map { $0.path + "/\(name)" } ?? directory + "/data"
        do throws(CommandFailure) {
            signer = try OwnServer.makeSigner()
            try OwnServer.prepare(directory, signer)
            let plan = SeedPlan(
                seed: seed, customerCount: CrashRun.customerCount, transactionCounts: 1...1)
            ledger = try CrashLedger(
                WriteEvents(plan: plan), journal: directory + "/expected.txt")
        } catch {
            ServerPlace.removeDirectory(directory)
            throw error
        }
        launch = ServerProcess.Launch(
            program: program,
            arguments: [
                "--config", directory + "/entitled.json5", "--apple-root",
                directory + "/root.pem", "--allow-test-root", "--threads", "2", "--workers", "2",
            ] + flags,
            directory: directory, environment: environment)
    }

    /// Starts the server on its data and waits until it answers.
    ///
    /// - Throws: `CommandFailure` with the end of its log.
    func start() async throws(CommandFailure) -> ServerProcess {
        var launch = launch
        launch.arguments += ["--data", dataPath]
        return try await ServerProcess(launch)
    }

    /// Starts the server on `data` and waits for nothing.
    ///
    /// - Parameters:
    ///   - data: Its data directory.
    ///   - flags: Further flags.
    ///   - name: How the files begin that its output goes to.
    /// - Returns: The process; the caller ends it.
    /// - Throws: `CommandFailure` when the system refuses.
    func spawn(
        data: String, flags: [String] = [], name: String = ""
    ) throws(CommandFailure) -> ChildProcess {
        try ChildProcess(
            program: launch.program,
            arguments: launch.arguments + ["--data", data, "--listen", "127.0.0.1:0"] + flags,
            environment: launch.environment, outputPath: directory + "/\(name)stdout.log",
            errorPath: directory + "/\(name)stderr.log")
    }

    /// Removes everything.
    func remove() {
        CrashFiles.remove(dataPath)
        ServerPlace.removeDirectory(directory)
    }
}
