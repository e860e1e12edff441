import Testing

@testable import Simulation

@Suite struct SimulatedNetworkTests {
    private func network(_ faults: Set<FaultKind>, seed: UInt64 = 1) -> SimulatedNetwork {
        var plan = SimulationPlan(seed: seed, eventCount: 10)
        plan.faults = faults
        return SimulatedNetwork(plan)
    }

    @Test func `pieces add up to what was sent`() {
        var chopping = network([.chunks])
        var sawPieces = false
        for count in 1...200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let pieces = chopping.segments(of: bytes)
            #expect(Array(pieces.joined()) == bytes)
            #expect(pieces.allSatisfy { !$0.isEmpty })
            sawPieces = sawPieces || pieces.count > 1
        }
        #expect(sawPieces)
        var whole = network([])
        #expect(whole.segments(of: [1, 2, 3]) == [[1, 2, 3]])
    }

    @Test func `one direction never overtakes itself`() {
        var slow = network([.delays, .stalls])
        var last: Int64 = 0
        for now in Int64(0)..<2_000 {
            let arrival = slow.arrival(after: last, at: now)
            #expect(arrival >= last && arrival >= now)
            last = arrival
        }
        #expect(last > 2_010)
    }

    @Test func `a calm network has no faults`() {
        var network = network([.resets, .slowReaders])
        #expect(network.has(.resets))
        network.isCalm = true
        #expect(!network.has(.resets))
        let connection = network.open(for: 3, at: 7)
        #expect(network.link(connection)?.windowByteCount == 1 << 20)
        #expect(network.link(connection)?.client == 3)
        network.forget(connection)
        #expect(network.link(connection) == nil)
    }
}
