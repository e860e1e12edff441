package import EventLoop
package import Service
package import Session
internal import Synchronization
package import Storage

/// The server: N loops that answer checks where they are read, and the threads beside them.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | serving | `drain` | draining: nobody is accepted, new requests are refused, the rest is
/// answered |
/// | serving, draining | `stop`; the grace is over | ended: connections are closed as they are |
/// | draining | the last connection is closed | ended |
package final class Server: Sendable {
    /// Where it listens, with the ports that the system chose; in the order of the options.
    package let addresses: [SocketAddress]
    private let sockets: [[ListeningSocket]]
    private let ports: [LoopPort]
    private let threads: [Thread]
    private let desk: CallDesk
    private let usage: UsageDesk?
    private let counters: ServerCounters

    /// Binds, starts every thread, and serves.
    ///
    /// - Parameters:
    ///   - options: Where and how.
    ///   - service: What answers; made for at least `options.loopCount` readers.
    ///   - remote: What carries out calls that ask Apple, on threads of the server; nil: they are
    ///     refused with APP_STORE_NOT_CONFIGURED. `drain`, `stop` and `join` make it give up.
    ///   - onEnd: Called once, by a thread of the server, when the last connection is closed after
    ///     `drain` or `stop`; call `join` then, from another thread.
    /// - Throws: `UVError`: an address is in use, or the system refuses a thread or descriptor.
    ///   Nothing is left running then, and `onEnd` may have been called.
    package init<Store: EntitlementWriter & Sendable>(
        options: ServerOptions, service: EntitlementService<Store>, remote: RemoteWork? = nil,
        onEnd: @escaping @Sendable () -> Void = {}
    ) throws(UVError) {
        options.precheck()
        let options = Self.fitted(options)
        counters = ServerCounters()
        sockets = try options.addresses.map { address throws(UVError) in
            try ListeningSocket.bind(address, count: options.loopCount)
        }
        addresses = sockets.map { $0[0].address }
        let launches = (0..<options.loopCount).map { _ in LoopLaunch() }
        let gate = EndGate(count: options.loopCount, onEnd: onEnd)
        let usage = Self.usageDesk(options, counters)
        self.usage = usage
        let census = options.census
        var threads: [Thread] = []
        do throws(UVError) {
            for (index, launch) in launches.enumerated() {
                let plan = LoopPlan(
                    index: index, sockets: sockets.map { $0[index] }, access: service.reader,
                    options: options, counters: counters, census: census, usage: usage, gate: gate)
                threads.append(try plan.start(launch))
            }
            ports = try launches.map { launch throws(UVError) in try launch.port() }
            desk = CallDesk(
                operations: .init(service), remote: remote, ports: ports, options: options)
            let door = desk.door
            try usage?.start { service.write($0, through: door) }
            try desk.start(
                workerCount: options.workerCount, remoteThreadCount: options.remoteThreadCount)
        } catch {
            usage?.stop()
            for launch in launches { launch.giveUp() }
            for thread in threads { thread.join() }
            throw error
        }
        self.threads = threads
        do throws(UVError) {
            for launch in launches { try launch.begin(with: desk) }
        } catch {
            for launch in launches { launch.giveUp() }
            stop()
            join()
            throw error
        }
    }

    private static func usageDesk(
        _ options: ServerOptions, _ counters: ServerCounters
    ) -> UsageDesk? {
        options.metersUse ? UsageDesk(loopCount: options.loopCount, counters: counters) : nil
    }

    /// Leaves descriptors for the store and the rest of the process.
    private static func fitted(_ options: ServerOptions) -> ServerOptions {
        let reserved = options.reservedDescriptorCount
        let limit = DescriptorLimit.raise(to: options.connectionCountMax + reserved)
        var options = options
        options.connectionCountMax = min(
            options.connectionCountMax, max(limit - reserved, limit / 2))
        return options
    }

    /// Where other threads of the process commit, with what clients send; open until `join`
    /// returns, and draining does not close it. Not for a thread that must not block.
    package var door: CommitDoor { desk.door }

    /// Calls in the hands of other threads than the loops. Any thread.
    package var outstandingCallCount: Int { desk.outstandingCallCount }

    /// What it has counted. Any thread.
    package var counts: ServerCounts { counters.counts }

    /// What its loops have answered. Any thread.
    package var callCounts: CallCounts {
        var counts = CallCounts()
        for port in ports { counts.add(port.counts) }
        return counts
    }

    /// Asks every loop to show that it turns. Any thread; returns at once. At idle nothing else
    /// wakes a loop, so ask no more often than about once a second.
    package func askLoops() {
        let now = MonotonicClock.nowMilliseconds
        for port in ports where port.pulse.ask(atMilliseconds: now) {
            port.inbox.send(.pulse)
        }
    }

    /// For how long the loop that is worst off has not answered `askLoops`; 0 = all have. Any
    /// thread.
    package var stalledMilliseconds: UInt64 {
        let now = MonotonicClock.nowMilliseconds
        return ports.map { $0.pulse.unansweredMilliseconds(atMilliseconds: now) }.max() ?? 0
    }

    /// Ends in order: nobody is accepted, calls in flight are answered, new ones are refused with
    /// DRAINING, idle connections are ended. Calls that wait for Apple are given up: their clients
    /// are told DRAINING. Any thread; returns at once; a second call does nothing.
    ///
    /// - Parameter graceMilliseconds: When it is over, connections are closed as they are.
    package func drain(graceMilliseconds: UInt64) {
        desk.giveUpRemoteCalls()
        for port in ports { port.inbox.send(.drain(graceMilliseconds: graceMilliseconds)) }
    }

    /// Ends now: connections are closed as they are. What reached the commit thread is committed.
    /// Any thread; returns at once.
    package func stop() {
        desk.giveUpRemoteCalls()
        for port in ports { port.inbox.send(.stop) }
    }

    /// Waits until every thread has ended after `drain` or `stop`. Not on a thread of the server.
    package func join() {
        for thread in threads { thread.join() }
        // What the loops have counted goes through the door, which the desk closes.
        usage?.stop()
        desk.stop()
        for socket in sockets.joined() { socket.close() }
    }
}

/// All that one loop's thread starts from, but for what the other loops must make first.
private struct LoopPlan: Sendable {
    let index: Int
    let sockets: [ListeningSocket]
    let access: AccessReader
    let options: ServerOptions
    let counters: ServerCounters
    let census: PeerCensus
    let usage: UsageDesk?
    let gate: EndGate

    func start(_ launch: LoopLaunch) throws(UVError) -> Thread {
        try Thread(name: "loop \(index)", priority: .prompt) {
            launch.run(spinMicroseconds: options.spinMicroseconds, sockets) {
                (loop, desk, port) throws(UVError) in
                try ServerLoop(
                    loop: loop,
                    parts: .init(
                        index: index, access: access, options: options, desk: desk, port: port,
                        counters: counters, census: census, usage: usage, onEnd: { gate.passed() }))
            }
        }
    }
}

/// Calls back when the last loop has ended.
private final class EndGate: Sendable {
    private let remaining: Atomic<Int>
    private let onEnd: @Sendable () -> Void

    init(count: Int, onEnd: @escaping @Sendable () -> Void) {
        remaining = Atomic(count)
        self.onEnd = onEnd
    }

    func passed() {
        if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { onEnd() }
    }
}
