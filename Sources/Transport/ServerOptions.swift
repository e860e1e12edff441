package import EventLoop
package import Session

/// How a server is laid out, and what all its connections together may claim.
package struct ServerOptions: Sendable {
    /// Where to listen; at least one.
    package var addresses: [SocketAddress]
    /// What it says of its release.
    package var identity: ServerIdentity
    /// Event-loop threads; each has a listener of its own for every address. The service's
    /// `readerCount` must allow for as many.
    package var loopCount = 1
    /// Threads that verify signatures and read whole customers.
    package var workerCount = 1
    /// How long a loop polls before it sleeps, in microseconds; 0 = not at all.
    package var spinMicroseconds: UInt64 = 0
    /// Connections over all loops. A connection beyond is told so and closed. Lowered at start to
    /// what the process may open.
    package var connectionCountMax = 10_000
    /// Calls that may be in the hands of workers and the commit thread, over all connections.
    package var outstandingCallCountMax = 8_192
    /// Bytes of the frames of those calls.
    package var outstandingCallByteCountMax = 256 << 20
    /// What one connection may claim.
    package var limits = Limits()

    /// The defaults, at these addresses.
    package init(addresses: [SocketAddress], identity: ServerIdentity) {
        self.addresses = addresses
        self.identity = identity
    }

    /// Traps where two options contradict each other; called once, at start.
    func precheck() {
        limits.precheck()
        precondition(!addresses.isEmpty, "a server listens somewhere")
        precondition(loopCount >= 1 && workerCount >= 1 && connectionCountMax >= 1)
        precondition(outstandingCallCountMax >= 1)
        precondition(outstandingCallByteCountMax >= limits.frameByteCountMax)
    }
}
