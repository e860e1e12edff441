import Entitlements
import EventLoop
import LoadGenerator
import Service
import Session
import Storage
import TestSupport
import Transport

@testable import entitlebench

/// A server in this process that holds a population, and what drives it.
final class WriteBench {
    let plan: SeedPlan
    let fixture: SeedFixture
    private let server: Server

    /// A server on a memory store.
    init(_ plan: SeedPlan) throws {
        self.plan = plan
        fixture = try SeedFixture()
        let desk = try fixture.desk(MemoryStore())
        for index in 0..<plan.personCount {
            _ = try desk.perform(try fixture.upload(of: index, in: plan)).get()
        }
        try desk.service.warm()
        server = try Server(
            options: ServerOptions(
                addresses: [.ipv4(host: "127.0.0.1", port: 0)],
                identity: ServerIdentity(version: "1", commit: "")),
            service: desk.service)
    }

    /// Where it listens.
    var address: SocketAddress { server.addresses[0] }

    /// A short run against it.
    var load: LoadPlan {
        var load = LoadPlan(address: address)
        load.connectionCount = 2
        load.depth = 4
        load.warmUpNanoseconds = 0
        load.roundNanoseconds = 200_000_000
        load.roundCount = 1
        return load
    }

    /// Ends it.
    func end() {
        server.stop()
        server.join()
    }
}
