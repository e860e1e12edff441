/// The certificate that a listener shows, with its private key.
package struct HTTPServerIdentity: Hashable, Sendable {
    /// The certificate, then those that lead to its root; PEM.
    package var certificateChain: [UInt8]
    /// The private key; PEM, without a password.
    package var privateKey: [UInt8]

    /// An identity.
    package init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

/// Where an `HTTPListener` listens, and how much it lets strangers have.
package struct HTTPListenerOptions: Hashable, Sendable {
    /// A literal address without brackets: "127.0.0.1", "::1".
    package var host: String
    /// 0: the system chooses a free one.
    package var port: UInt16
    /// nil: plain text, for loopback or behind a proxy that speaks TLS.
    package var identity: HTTPServerIdentity?
    /// Threads that read and write; they never wait for a handler.
    package var ioThreadCount = 1
    /// Threads that run the handler. Each waits for its commit, and a group of commits shares one
    /// sync: 16 fill a group without crowding the machine.
    package var workerCount = 16
    /// Whole requests that may wait for a worker; beyond, 503 at once.
    package var waitingRequestCountMax = 1_024
    /// Open connections; beyond, the one that has kept us waiting longest goes.
    package var connectionCountMax = 1_024
    /// Open connections from one address; nil: no limit, as behind a proxy.
    package var connectionCountPerPeerMax: Int?
    /// Whole seconds, as libmicrohttpd has it: how long a connection may be silent.
    package var idleSeconds = 30
    /// From the first line of a request to its last byte, and again from the response's first byte
    /// to its last, however steadily they drip. The handler's own time does not count.
    package var requestMilliseconds = 30_000
    /// A longer body is answered 413.
    package var bodyByteCountMax = 1 << 20
    /// Bodies of all requests together; beyond, 503.
    package var bufferedByteCountMax = 64 << 20
    /// First line and fields of one request; beyond, the library answers 413 or 431.
    package var headByteCountMax = 32 << 10

    /// An address with the limits for the open internet.
    package init(host: String = "127.0.0.1", port: UInt16 = 0, identity: HTTPServerIdentity? = nil)
    {
        self.host = host
        self.port = port
        self.identity = identity
    }

    /// Relations that a caller must keep.
    func precheck() {
        precondition(ioThreadCount >= 1 && workerCount >= 1, "there are threads")
        precondition(waitingRequestCountMax >= 1 && connectionCountMax >= 1, "there is room")
        precondition(connectionCountPerPeerMax ?? 1 >= 1, "a peer may connect")
        precondition(idleSeconds >= 1 && requestMilliseconds >= 1, "0 would be no limit")
        precondition(
            bodyByteCountMax >= 0 && bufferedByteCountMax >= bodyByteCountMax,
            "one body fits the buffers")
        precondition(headByteCountMax >= 4_096, "a request has a head")
    }
}

/// Why a listener did not start.
package enum HTTPListenerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host is no literal IPv4 or IPv6 address.
    case notLiteral(host: String)
    /// The system refused; the text is the system's.
    case cannotListen(address: String, reason: String)
    /// The library refused: a certificate or key that it cannot read, or no threads.
    case cannotStart(address: String, hasIdentity: Bool)

    /// One line for people.
    package var description: String {
        switch self {
        case .notLiteral(let host): "\(host) is no literal IP address"
        case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
        case .cannotStart(let address, let hasIdentity):
            "cannot serve HTTP on \(address): "
                + (hasIdentity
                    ? "the certificate or its key is not readable PEM, or they do not match"
                    : "the system has no threads or descriptors left")
        }
    }
}
