@testable import HTTP
import Glibc
import Testing

/// The ends of a socket pair: one for the registry, one to see what it does.
private final class Pair {
    let ours: Int32
    let theirs: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        unsafe ends.withUnsafeMutableBufferPointer { buffer in
            _ = unsafe socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, buffer.baseAddress)
        }
        (ours, theirs) = (ends[0], ends[1])
    }

    deinit {
        close(ours)
        close(theirs)
    }

    /// Whether the other end sees the end of input.
    var isCut: Bool {
        var byte: UInt8 = 0
        return unsafe recv(theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }
}

@Suite struct ConnectionRegistryTests {
    private let counters = ListenerCounters()
    private let alice = PeerAddress(high: 0, low: 1)
    private let bob = PeerAddress(high: 0, low: 2)

    private func registry(
        _ change: (inout HTTPListenerOptions) -> Void = { _ in }
    ) -> ConnectionRegistry {
        var options = HTTPListenerOptions()
        change(&options)
        return ConnectionRegistry(options: options, counters: counters)
    }

    @Test func `one address has its share and no more`() {
        let registry = registry { $0.connectionCountPerPeerMax = 2 }
        let pairs = (0..<2).map { _ in Pair() }
        let open = pairs.map { registry.open(descriptor: $0.ours, peer: alice) }
        #expect(!registry.accepts(alice))
        #expect(registry.accepts(bob))
        registry.close(open[0])
        #expect(registry.accepts(alice))
        #expect(counters.refusedConnections.value == 1)
    }

    @Test func `at the limit the one that has waited longest goes, never one that is answered`() {
        let registry = registry { $0.connectionCountMax = 2 }
        let (working, silent) = (Pair(), Pair())
        let answering = registry.open(descriptor: working.ours, peer: alice)
        registry.beganRequest(answering)
        registry.beganAnswering(answering)
        _ = registry.open(descriptor: silent.ours, peer: alice)
        #expect(registry.accepts(bob))
        #expect(silent.isCut && !working.isCut)
        #expect(counters.evictedConnections.value == 1)
        #expect(!registry.accepts(bob), "nobody is left who could go")
    }

    @Test func `a deadline holds for the peer's turn, not for ours`() {
        let registry = registry { options in
            options.idleSeconds = 10
            options.requestMilliseconds = 1_000
        }
        let pair = Pair()
        let connection = registry.open(descriptor: pair.ours, peer: alice)
        let idle = connection.deadline
        #expect(registry.cutExpired(at: idle - 1) == idle)
        registry.beganRequest(connection)
        let request = connection.deadline
        #expect(request <= idle - 9_000)
        registry.beganAnswering(connection)
        #expect(registry.cutExpired(at: idle + 1) == .max)
        #expect(!pair.isCut)
        registry.beganSending(connection, isEarly: false)
        #expect(registry.cutExpired(at: connection.deadline - 1) == connection.deadline)
        registry.endedRequest(connection)
        #expect(registry.cutExpired(at: connection.deadline) == .max)
        #expect(pair.isCut)
        #expect(counters.timedOutConnections.value == 1)
    }

    @Test func `at the end idle connections go and others may finish`() {
        let registry = registry()
        let (idle, busy) = (Pair(), Pair())
        let first = registry.open(descriptor: idle.ours, peer: alice)
        let second = registry.open(descriptor: busy.ours, peer: alice)
        registry.beganRequest(second)
        registry.stop()
        #expect(idle.isCut && !busy.isCut)
        #expect(!registry.accepts(bob))
        registry.endedRequest(second)
        #expect(busy.isCut)
        #expect(!registry.waitUntilEmpty(until: 0))
        registry.close(first)
        registry.close(second)
        #expect(registry.waitUntilEmpty(until: 0))
    }

    @Test func `a connection that was answered early lingers, with a descriptor of its own`() {
        let registry = registry()
        let pair = Pair()
        let connection = registry.open(descriptor: pair.ours, peer: alice)
        registry.beganSending(connection, isEarly: true)
        registry.close(connection)
        let lingering = registry.takeLingering()
        #expect(lingering.count == 1 && lingering.first != pair.ours)
        for descriptor in lingering { registry.endedLingering(descriptor) }
        #expect(registry.takeLingering().isEmpty)
    }
}
