internal import ToolSupport

/// The servers of a comparison that it starts itself and has to end.
struct CompareServers {
    private let servers: [OwnServer]
    /// They, first of all.
    let targets: [CompareTarget]

    /// What a server that spins is for: to have one answer as soon as can be.
    private static let spinShapes = [CompareShape(1, 1)]

    /// Starts what the flags ask for: one server, and one that spins; or none.
    ///
    /// - Throws: `CommandFailure`; none runs then.
    init(
        _ bench: Bench, _ plan: SeedPlan, _ options: LoadOptions
    ) async throws(CommandFailure) {
        guard !bench.has("no-server") else {
            servers = []
            targets = []
            return
        }
        let program = try ServerPlace.findProgram(
            named: bench.value("server"), environment: bench.environment)
        let usual = (bench.value("server-flags") ?? "").split(separator: " ").map(String.init)
        let spin = try bench.number("spin-us", in: 1...10_000)
        var kinds: [(name: String, flags: [String], shapes: [CompareShape]?)] = [
            ("entitled", [], nil)
        ]
        if let spin {
            kinds.append(("--spin-us \(spin)", ["--spin-us", "\(spin)"], Self.spinShapes))
        }

        var servers: [OwnServer] = []
        var targets: [CompareTarget] = []
        do throws(CommandFailure) {
            for kind in kinds {
                let server = try await OwnServer(
                    program: program, seed: plan, options: options, flags: usual + kind.flags,
                    environment: bench.environment, console: bench.console)
                servers.append(server)
                let target = try BenchTarget(
                    own: server.server, server.launch, signer: server.signer)
                targets.append(
                    CompareTarget(kind.name, .entitled, at: target.address, shapes: kind.shapes))
            }
        } catch {
            for server in servers { _ = await server.end() }
            throw error
        }
        self.servers = servers
        self.targets = targets
    }

    /// Ends them all and removes what they wrote.
    func end() async {
        for server in servers { _ = await server.end() }
    }
}
