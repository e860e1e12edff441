package import Authorization
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
    /// Threads that ask Apple for calls that need it, and wait for the network meanwhile.
    package var remoteThreadCount = 2
    /// How long a loop polls before it sleeps, in microseconds; 0 = not at all.
    package var spinMicroseconds: UInt64 = 0
    /// Connections over all loops. A connection beyond is told so and closed. Lowered at start to
    /// what the process may open.
    package var connectionCountMax = 10_000
    /// Connections of one peer, an address or the IPv6 network of one host; nil: half of
    /// `connectionCountMax` for other machines, and no bound for this one.
    package var connectionCountMaxPerPeer: Int?
    /// Bytes that all connections together may hold: of frames that are not whole, of requests that
    /// are not answered, of answers that are not taken.
    package var bufferedByteCountMax = 512 << 20
    /// Descriptors that are left to the rest of the process: files of the store, other listeners.
    package var reservedDescriptorCount = 1_024
    /// Calls that may be in the hands of workers and the commit thread, over all connections.
    package var outstandingCallCountMax = 8_192
    /// Bytes of the frames of those calls.
    package var outstandingCallByteCountMax = 256 << 20
    /// Calls that may wait for or be with the threads that ask Apple: such a call takes seconds,
    /// and those that wait must not use up the room of all others.
    package var remoteCallCountMax = 256
    /// Calls that may wait for or be with the thread that checks chains of certificates which were
    /// not seen before, 2.8 ms each; among `outstandingCallCountMax`.
    package var unknownChainCallCountMax = 256
    /// Events of other threads of the process that may wait for the commit thread.
    package var doorEventCountMax = 1_024
    /// Whether grants are counted by transaction and day. `metering`.
    package var metersUse = true
    /// How long a loop keeps what it has counted, in milliseconds: as much is lost in a crash.
    /// `meteringInterval`.
    package var usageFlushMilliseconds: Int64 = 10_000
    /// TLS of every TCP listener; nil: plain text. Unix sockets always speak plain text.
    package var tls: TLSDoor?
    /// TLS handshakes that may be under way on one loop; a connection beyond is closed. Each takes
    /// some 50 KiB.
    package var handshakeCountMax = 1_024
    /// Who may call; open unless said otherwise.
    package var keys = KeyBoard()
    /// Where calls are written down; nil: nowhere.
    package var audit: AuditTrail?
    /// What one connection may claim.
    package var limits = Limits()

    /// The defaults, at these addresses.
    package init(addresses: [SocketAddress], identity: ServerIdentity) {
        self.addresses = addresses
        self.identity = identity
    }

    /// What connections to `address` begin with.
    func tls(for address: SocketAddress) -> TLSDoor? {
        if case .unix = address { nil } else { tls }
    }

    /// Who has how many connections.
    var census: PeerCensus {
        PeerCensus(
            countMax: connectionCountMaxPerPeer ?? max(1, connectionCountMax / 2),
            countsLoopback: connectionCountMaxPerPeer != nil)
    }

    /// Traps where two options contradict each other; called once, at start.
    func precheck() {
        limits.precheck()
        precondition(!addresses.isEmpty, "a server listens somewhere")
        precondition(loopCount >= 1 && workerCount >= 1 && connectionCountMax >= 1)
        precondition(outstandingCallCountMax >= 1 && usageFlushMilliseconds >= 1)
        precondition((connectionCountMaxPerPeer ?? 1) >= 1 && bufferedByteCountMax >= 1)
        precondition(unknownChainCallCountMax >= 1 && handshakeCountMax >= 1)
        precondition(remoteThreadCount >= 1 && remoteCallCountMax >= 1 && doorEventCountMax >= 1)
        precondition(outstandingCallByteCountMax >= limits.frameByteCountMax)
    }
}
