internal import EntitledClient
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// `rehearse`: the fire drill.
enum RehearseCommand {
    static let command = Command(
        words: ["rehearse"], operands: [],
        flags: [
            .value("server", "PATH", "the program `entitled` [beside this tool, else in PATH]"),
            .toggle("keep", "leave the server running, and say how to stop it"),
            .value("into", "ADDRESS", "play into the Sandbox of a running server instead"),
            .value("root", "FILE", "with --into: the test root that the server trusts"),
            .value(
                "write-root", "FILE", "write a test root to FILE, its key to FILE.key; no drill"),
        ],
        summary: "the fire drill: a family of six buys, is refunded, leaves, comes back",
        details: [
            "Starts a real server on an empty directory, plays the story, and says person by",
            "person what the server answered and what is right. Exit code 0 only when all is.",
            "Beside its own server the drill plays the App Store as well: a REVOKE that never",
            "came, notifications missed, Apple out of order. With --into those acts are left out.",
            "JSON: address, right, steps, answers, wrong, leftOut (titles of acts), acts (title,",
            "steps (title, product, said, complaints, checks)).",
        ],
        examples: [
            ("entitlectl rehearse", "the whole drill; nothing is left behind"),
            ("entitlectl rehearse --keep", "then look around with check, explain, customer show"),
            (
                "entitlectl rehearse --write-root test-root.pem",
                "once, for a server that is started with --apple-root test-root.pem "
                    + "--allow-test-root"
            ),
            (
                "entitlectl rehearse --into 127.0.0.1:7420 --root test-root.pem",
                "into its Sandbox, with ids that nobody else has"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        Interruption.watch()
        let intoAddress = invocation.value("into")
        if let path = invocation.value("write-root") {
            try refuse(["into", "root", "keep", "server"], beside: "write-root", invocation)
            return try writeRoot(to: path, invocation)
        }
        if let intoAddress {
            try refuse(["keep", "server"], beside: "into", invocation)
            return try await play(into: intoAddress, invocation)
        }
        guard invocation.value("root") == nil else {
            throw CommandFailure(.usage, "--root goes with --into")
        }
        return try await playAlone(invocation)
    }

    private static func refuse(
        _ flags: [String], beside flag: String, _ invocation: Invocation
    ) throws(CommandFailure) {
        if let stray = flags.first(where: { invocation.has($0) }) {
            throw CommandFailure(.usage, "--\(stray) does not go with --\(flag)")
        }
    }

    // MARK: With a server of its own

    private static func playAlone(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let program = try ServerPlace.findProgram(
            named: invocation.value("server"), environment: invocation.environment)
        SystemCalls.bypassProxies()
        let authority = try authority()
        let server = try await RehearsalServer(
            program: program, rootPEM: authority.rootPEM, environment: invocation.environment)
        if !invocation.isJSON {
            invocation.console.print(
                Line("server \(program), pid \(server.process.id), at \(server.address)", .dim))
        }
        let outcome: Result<RehearsalReport, CommandFailure>
        do throws(CommandFailure) {
            let desk = SigningDesk(
                authority: authority, bundleID: RehearsalServer.bundleID,
                appAppleID: RehearsalServer.appAppleID, environment: "Production")
            outcome = .success(try await play(desk, with: server, invocation))
        } catch {
            outcome = .failure(error)
        }
        return try await finish(outcome, server, invocation)
    }

    private static func play(
        _ desk: SigningDesk, with server: RehearsalServer, _ invocation: Invocation
    ) async throws(CommandFailure) -> RehearsalReport {
        let apple = try RehearsalAppStore(desk)
        defer { apple.close() }
        let report = try await play(
            desk, at: server.address, scope: Scope(bundleID: RehearsalServer.bundleID), invocation,
            stage: RehearsalStory.Stage(server: server, apple: apple))
        // Without the drill there is nobody whom it could ask.
        if invocation.has("keep") {
            try await server.stop()
            try await server.start()
        }
        return report
    }

    private static func finish(
        _ outcome: Result<RehearsalReport, CommandFailure>, _ server: RehearsalServer,
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let isKept = invocation.has("keep") && Interruption.signalNumber == nil
        if isKept, case .success = outcome {
            Interruption.release()
            let lines = [
                "the server goes on at \(server.address), pid \(server.process.id);"
                    + " its data and logs are in \(server.directory)",
                "stop it with: kill \(server.process.id) && rm -r \(server.directory)",
            ]
            // Part of what was asked for: neither -q nor a pipe may swallow it.
            if invocation.isJSON {
                invocation.console.alwaysNote(lines)
            } else {
                invocation.console.print(lines.map { Line($0) })
            }
        } else {
            let end = await server.end()
            if end != .exit(0), Interruption.signalNumber == nil {
                invocation.console.note("the server ended with \(end)")
                _ = try outcome.get()
                return .failed
            }
        }
        return try outcome.get().isRight ? .success : .failed
    }

    // MARK: With a running server

    private static func play(
        into address: String, _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        guard let rootPath = invocation.value("root") else {
            throw CommandFailure(
                .usage, "--into needs --root FILE",
                hint: "make one with `entitlectl rehearse --write-root FILE`, and start the server"
                    + " with --apple-root FILE --allow-test-root")
        }
        let stored = try SystemCalls.readFile(rootPath + ".key")
        let authority: RehearsalAuthority
        do throws(RehearsalAuthorityError) {
            authority = try RehearsalAuthority(stored: stored)
        } catch {
            throw CommandFailure(.failed, "\(rootPath).key: \(error.description)")
        }
        let info = try await invocation.withClient(at: address) { (client) throws(ClientError) in
            try await client.serverInfo()
        }
        let apps = info.scopes.filter { $0.environment == .sandbox }.map(\.bundleID)
        let bundleID = try chosenApp(of: apps, invocation.value("bundle-id"))
        let desk = SigningDesk(
            authority: authority, bundleID: bundleID, appAppleID: 0, environment: "Sandbox")
        let report = try await play(
            desk, at: address, scope: Scope(bundleID: bundleID, environment: .sandbox), invocation,
            stage: nil)
        return report.isRight ? .success : .failed
    }

    private static func chosenApp(
        of apps: [String], _ wanted: String?
    ) throws(CommandFailure) -> String {
        if let wanted {
            guard apps.contains(wanted) else {
                throw CommandFailure(.failed, "the server has no Sandbox of \(wanted)")
            }
            return wanted
        }
        guard let app = apps.first, apps.count == 1 else {
            throw CommandFailure(
                apps.isEmpty ? .failed : .usage,
                apps.isEmpty
                    ? "the server serves no Sandbox"
                    : "the server serves the Sandbox of several apps",
                hint: apps.isEmpty
                    ? "start it with --environment Sandbox"
                    : "name one with --bundle-id: \(apps.joined(separator: ", "))")
        }
        return app
    }

    // MARK: Both

    private static func play(
        _ desk: SigningDesk, at address: String, scope: Scope, _ invocation: Invocation,
        stage: RehearsalStory.Stage?
    ) async throws(CommandFailure) -> RehearsalReport {
        let drill = try Rehearsal(
            desk: desk, at: address, scope: scope, apiKey: invocation.apiKey,
            console: invocation.console,
            printsSteps: !invocation.isJSON && !invocation.console.isQuiet)
        defer { drill.close() }
        if drill.printsSteps { invocation.console.print(drill.cast.lines) }
        var story = RehearsalStory(drill: drill, stranger: try authority(), stage: stage)
        try await story.play()
        let report = story.drill.report
        if invocation.isJSON {
            invocation.console.print(report.json)
        } else {
            if invocation.console.isQuiet {
                invocation.console.print(
                    report.steps.filter { $0.wrongCount > 0 }.flatMap(\.lines))
            }
            invocation.console.print([Line(""), report.summary] + report.leftOutLines)
        }
        return report
    }

    private static func authority() throws(CommandFailure) -> RehearsalAuthority {
        do throws(RehearsalAuthorityError) {
            return try RehearsalAuthority()
        } catch {
            throw CommandFailure(.failed, error.description)
        }
    }

    private static func writeRoot(
        to path: String, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitStatus {
        let files = FileManager.default
        for path in [path, path + ".key"] where files.fileExists(atPath: path) {
            throw CommandFailure(.failed, "\(path): there is a file already")
        }
        let authority = try authority()
        let stored: [UInt8]
        do throws(RehearsalAuthorityError) {
            stored = try authority.stored()
        } catch {
            throw CommandFailure(.failed, error.description)
        }
        let isWritten =
            files.createFile(atPath: path, contents: Data(authority.rootPEM))
            && files.createFile(
                atPath: path + ".key", contents: Data(stored),
                attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw CommandFailure(.failed, "\(path): it cannot be written") }
        invocation.console.note(
            "start a server with --apple-root \(path) --allow-test-root and --environment Sandbox,"
                + " then: entitlectl rehearse --into ADDRESS --root \(path)")
        return .success
    }
}
