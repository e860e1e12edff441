internal import EventLoop
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// The server that is driven.
struct BenchTarget: Sendable {
    /// Where it listens.
    let address: SocketAddress
    /// The number of its process; nil = it is not ours.
    let processID: Int32?
    /// Signs what it trusts; nil = nobody here does, and nothing can be handed in.
    let signer: SeedSigner?
    /// TLS to it; nil = plain text.
    let tls: BenchTLS?
    /// What a report says of it.
    let facts: TargetFacts
    /// The API key that it is shown; empty = none.
    var apiKey = ""

    /// A server that somebody else runs, which holds the population already.
    ///
    /// - Throws: `CommandFailure` when the address is none, or is another machine's and that was
    ///   not allowed: whoever mistypes one must not flood it.
    init(
        foreign text: String, allowsRemote: Bool, signer: SeedSigner? = nil, tls: BenchTLS? = nil,
        apiKey: String = ""
    ) throws(CommandFailure) {
        self.apiKey = apiKey
        do throws(AddressError) {
            address = try SocketAddress(text)
        } catch {
            throw CommandFailure(.usage, "--target: \(error.description)")
        }
        guard address.isLocal || allowsRemote else {
            throw CommandFailure(
                .usage, "--target: \(text) is another machine",
                hint: "--allow-remote drives it all the same: be sure that it is yours")
        }
        processID = nil
        self.signer = signer
        self.tls = tls
        facts = TargetFacts(name: address.description, program: nil, processors: [])
    }

    /// A server of our own.
    init(
        own server: ServerProcess, _ launch: ServerProcess.Launch, signer: SeedSigner? = nil,
        tls: BenchTLS? = nil
    ) throws(CommandFailure) {
        do throws(AddressError) {
            address = try SocketAddress(server.address)
        } catch {
            throw CommandFailure(.failed, "the server listens at \(server.address)")
        }
        processID = server.process.id
        self.signer = signer
        self.tls = tls
        facts = TargetFacts(
            name: address.description, program: launch.program, processors: launch.processors)
    }
}

/// What a report says of a server.
struct TargetFacts: Equatable, Sendable {
    /// Its address.
    let name: String
    /// The program, when it is ours.
    let program: String?
    /// The processors it may run on; empty = any, or not known.
    let processors: [Int]
}

/// A server on a throw-away directory that holds a population.
final class OwnServer {
    /// Holds all that was written.
    let directory: String
    /// The process.
    let server: ServerProcess
    /// What it was started with.
    let launch: ServerProcess.Launch
    /// Who signs what the server trusts.
    let signer: SeedSigner
    /// TLS to it; nil = plain text.
    let tls: BenchTLS?

    /// Makes the directory, loads the population, starts the server.
    ///
    /// - Throws: `CommandFailure`; nothing is left behind then.
    init(
        program: String, seed: SeedPlan, options: LoadOptions, flags: [String],
        environment: [String: String], console: Console
    ) async throws(CommandFailure) {
        directory = try ServerPlace.makeDirectory("entitlebench")
        do throws(CommandFailure) {
            signer = try Self.makeSigner()
            try Self.prepare(directory, signer)
            let made = options.speaksTLS ? try BenchTLS.make(in: directory) : nil
            tls = made?.tls
            try Self.load(seed, into: directory + "/data", signer, console)
            let threadCount = max(1, options.serverProcessors.count)
            var launch = ServerProcess.Launch(
                program: program,
                arguments: [
                    "--config", directory + "/entitled.json5", "--data", directory + "/data",
                    "--apple-root", directory + "/root.pem", "--allow-test-root",
                    "--threads", "\(threadCount)", "--workers", "\(threadCount)",
                ] + (made?.serverFlags ?? []) + flags,
                directory: directory, environment: environment)
            launch.processors = options.serverProcessors
            self.launch = launch
            server = try await ServerProcess(launch)
        } catch {
            ServerPlace.removeDirectory(directory)
            throw error
        }
    }

    /// A new authority, and who signs with it.
    static func makeSigner() throws(CommandFailure) -> SeedSigner {
        do throws(RehearsalAuthorityError) {
            return SeedSigner(app: SeedApp(), authority: try RehearsalAuthority())
        } catch {
            throw CommandFailure(.failed, "no test certificates: \(error.description)")
        }
    }

    /// Writes the root and the configuration that a server of the app is started with.
    static func prepare(
        _ directory: String, _ signer: SeedSigner
    ) throws(CommandFailure) {
        // A file of its own keeps the machine's configuration out of the run.
        let app = signer.app
        let configuration = """
            { apps: [{ bundleId: "\(app.bundleID)", appAppleId: \(app.appAppleID),
                       environments: ["Production"] }] }
            """
        try SystemCalls.writeFile(directory + "/root.pem", signer.authority.rootPEM)
        try SystemCalls.writeFile(directory + "/entitled.json5", Array(configuration.utf8))
    }

    private static func load(
        _ seed: SeedPlan, into directory: String, _ signer: SeedSigner, _ console: Console
    ) throws(CommandFailure) {
        let threadCount = max(1, Processors.available.count)
        let load = BulkLoad(
            plan: seed, app: signer.app, directory: directory, threadCount: threadCount,
            receivedMilliseconds: SystemCalls.nowMilliseconds)
        console.detail("loading \(seed.customerCount) customers into \(directory)")
        do {
            try load.run()
        } catch {
            throw CommandFailure(.failed, "the population cannot be loaded: \(error)")
        }
    }

    /// Ends the server and removes all that was written.
    ///
    /// - Returns: how the server ended.
    func end() async -> ChildProcess.End {
        let end = await server.end()
        ServerPlace.removeDirectory(directory)
        return end
    }
}
