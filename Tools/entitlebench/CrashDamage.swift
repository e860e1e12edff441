internal import EntitledClient
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// Damages copies of a store that was killed, one file and one kind at a time, and looks what a
/// server makes of each: it serves all, or refuses to start and names the file, or serves the rest
/// and says so; never less in silence.
struct CrashDamage: Sendable {
    /// What is done to a file.
    enum Deed: Hashable, Sendable, CustomStringConvertible {
        /// One bit of the byte at so many thousandths of the file is turned.
        case flip(Int)
        /// So many bytes are cut off the end; more than there are: all.
        case cut(Int)
        /// The half of the file is cut off.
        case halve
        /// The 4 KiB at so many thousandths become zeros.
        case zero(Int)
        /// The file is removed.
        case delete
        /// A record that was never finished is added, as a crash leaves it.
        case tear

        var description: String {
            switch self {
            case .flip(let place): "flip a bit at \(place / 10) %"
            case .cut(.max): "cut all"
            case .cut(let count): "cut \(count) bytes"
            case .halve: "cut the second half"
            case .zero(let place): "zero a page at \(place / 10) %"
            case .delete: "delete"
            case .tear: "an unfinished record"
            }
        }
    }

    /// What came of it.
    enum Outcome: String, Sendable {
        /// Everything is served.
        case served
        /// It did not start, and named the file.
        case refused
        /// Questions about what is damaged were refused, and `/readyz` says so.
        case partly
        /// Something is missing in silence, or the server crashed.
        case bad
    }

    /// One case.
    struct Case: Sendable {
        let file: String
        let deed: Deed
        var outcome: Outcome
        var detail: String
    }

    let bed: CrashBed
    let console: Console

    private static let allDeeds: [Deed] = [
        .flip(0), .flip(250), .flip(500), .flip(750), .flip(990), .cut(1), .cut(7), .cut(100),
        .halve, .cut(.max), .zero(0), .zero(500), .delete,
    ]
    private static let patience: Duration = .seconds(20)

    /// Damages every kind of file in every way.
    ///
    /// - Throws: `CommandFailure` where a copy cannot be made.
    func run() async throws(CommandFailure) -> [Case] {
        let store = bed.dataPath + "/store"
        var cases: [Case] = []
        let progress = Progress(console: console, noun: "cases")
        let files = Self.targets(in: bed.dataPath)
        let total = files.map { Self.deeds(for: $0).count }.reduce(0, +)
        console.detail("the store of \(store) has \(CrashFiles.names(in: store).count) files")
        for file in files {
            for deed in Self.deeds(for: file) {
                if Interruption.signalNumber != nil { throw .interrupted }
                cases.append(try await run(deed, on: file, number: cases.count))
                progress.update(done: cases.count, total: total)
            }
        }
        return cases
    }

    /// One file of each kind, and of tables the largest, one in the middle and the smallest.
    private static func targets(in data: String) -> [String] {
        let store = data + "/store"
        let names = CrashFiles.names(in: store)
        var files: [String] = []
        if let log = CrashFiles.newestLog(in: store) { files.append(log) }
        let tables = names.filter { $0.hasSuffix(".sst") }.map { store + "/" + $0 }
            .sorted { size($0) > size($1) }
        if !tables.isEmpty {
            files += [tables[0], tables[tables.count / 2], tables[tables.count - 1]]
        }
        for prefix in ["MANIFEST", "CURRENT", "OPTIONS", "IDENTITY"] {
            if let name = names.last(where: { $0.hasPrefix(prefix) }) {
                files.append(store + "/" + name)
            }
        }
        let own = ["FORMAT", "ACKNOWLEDGED"].filter { CrashFiles.names(in: data).contains($0) }
        return files + own.map { data + "/" + $0 }
    }

    private static func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    private static func deeds(for file: String) -> [Deed] {
        allDeeds + (file.hasSuffix(".log") ? [.tear] : [])
    }

    private func run(
        _ deed: Deed, on file: String, number: Int
    ) async throws(CommandFailure) -> Case {
        let copy = bed.directory + "/damaged"
        CrashFiles.remove(copy)
        try CrashFiles.copy(bed.dataPath, to: copy)
        let name = String(file.dropFirst(bed.dataPath.count + 1))
        try Self.damage(copy + "/" + name, deed)
        let log = "case\(number)-"
        let process = try bed.spawn(data: copy, flags: ["--http", "127.0.0.1:0"], name: log)
        let judged = await judge(process, log)
        process.send(.kill)
        if judged.outcome != .refused { _ = await process.waitForEnd() }
        return Case(file: name, deed: deed, outcome: judged.outcome, detail: judged.detail)
    }

    private static func damage(_ path: String, _ deed: Deed) throws(CommandFailure) {
        if deed == .delete { return CrashFiles.remove(path) }
        var bytes = try CrashFiles.read(path)
        switch deed {
        case .flip(let place) where !bytes.isEmpty: bytes[bytes.count * place / 1_000] ^= 0x10
        case .cut(let count): bytes.removeLast(min(count, bytes.count))
        case .halve: bytes.removeLast(bytes.count / 2)
        case .zero(let place):
            let start = bytes.count * place / 1_000 / 4_096 * 4_096
            for index in start..<min(start + 4_096, bytes.count) { bytes[index] = 0 }
        case .tear: bytes += [1, 2, 3, 4, 0x00, 0x02, 1] + [UInt8](repeating: 7, count: 40)
        case .flip, .delete: break
        }
        try CrashFiles.write(bytes, to: path)
    }

    // MARK: What the server makes of it

    private typealias Judged = (outcome: Outcome, detail: String)

    private func judge(_ process: ChildProcess, _ log: String) async -> Judged {
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        while clock.now < limit {
            if let end = process.pollEnd() { return Self.judge(end, lastLine(log)) }
            if let addresses = addresses(log) {
                do throws(CommandFailure) {
                    return try await judge(addresses, log)
                } catch {
                    return (.bad, "it went away: \(error.message); \(lastLine(log))")
                }
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return (.bad, "it neither started nor ended")
    }

    /// A server that ended by itself: with a code for damage or for a disk that fails, and a word.
    private static func judge(_ end: ChildProcess.End, _ line: String) -> Judged {
        switch end {
        case .exit(65) where line.contains("cannot start"), .exit(74) where line.contains("cannot"):
            // Whoever calls `waitForEnd` again would wait for somebody else's process.
            return (.refused, line)
        default: return (.bad, "it ended with \(end): \(line)")
        }
    }

    private func judge(
        _ addresses: (rpc: String, http: String), _ log: String
    ) async throws(CommandFailure) -> Judged {
        let client = try CrashLoad.client(addresses.rpc)
        defer { client.close() }
        let verifier = CrashVerifier(
            ledger: bed.ledger, signer: bed.signer, client: client, allowsRefusals: true)
        await waitUntilWarm(log)
        let findings = try await verifier.verify(bed.ledger.entries.keys.sorted())
        if let loss = findings.losses.first {
            return (.bad, "\(findings.losses.count) losses: \(loss)")
        }
        guard findings.refusalCount > 0 else { return (.served, "all is there") }
        let said = CrashFiles.text(bed.directory + "/\(log)stderr.log")
        guard said.contains("the store is damaged") else {
            return (.bad, "\(findings.refusalCount) refusals, and the log says nothing")
        }
        return (.partly, "\(findings.refusalCount) refusals, and the log says why")
    }

    /// What is damaged is found when it is read: the table of verdicts reads every snapshot.
    private func waitUntilWarm(_ log: String) async {
        for _ in 0..<1_000 {
            let text = CrashFiles.text(bed.directory + "/\(log)stderr.log")
            if text.contains("\"warm\"") || text.contains("warming failed") { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func addresses(_ log: String) -> (rpc: String, http: String)? {
        let text = CrashFiles.text(bed.directory + "/\(log)stdout.log")
        guard text.hasSuffix("\n"), text.hasPrefix("listening ") else { return nil }
        var result = (rpc: "", http: "")
        for word in text.dropLast().split(separator: " ") {
            if word.hasPrefix("rpc=") { result.rpc = String(word.dropFirst(4)) }
            if word.hasPrefix("http=") { result.http = String(word.dropFirst(5)) }
        }
        return result
    }

    private func lastLine(_ log: String) -> String {
        let lines = CrashFiles.text(bed.directory + "/\(log)stderr.log").split(separator: "\n")
        return String(lines.last(where: { $0.contains("cannot") }) ?? lines.last ?? "")
    }
}
