internal import EventLoop
internal import OpenSSL
internal import Synchronization

// MARK: - New connections

extension ServerLoop {
    /// As many at a time are told why they are refused; beyond that being polite would cost what
    /// the limits protect.
    private static var politeRefusalCountMax: Int { 64 }

    /// A listener has a new connection, or lost one.
    func accepted(_ result: Result<StreamConnection, UVError>, _ tls: TLSDoor?) {
        let counters = parts.counters
        guard case .success(let stream) = result else {
            counters.failedAccepts.add(1, ordering: .relaxed)
            return
        }
        counters.acceptedConnections.add(1, ordering: .relaxed)
        let peer = stream.peerAddress
        let isAdmitted = peer.map { parts.census.admit($0) } ?? true
        if !isAdmitted { counters.refusedConnectionsOfPeers.add(1, ordering: .relaxed) }
        guard isAdmitted || tls == nil, let layer = layer(tls) else {
            if isAdmitted, let peer { parts.census.release(peer) }
            counters.refusedConnections.add(1, ordering: .relaxed)
            return stream.reset()
        }
        let count = counters.connections.add(1, ordering: .relaxed).newValue
        let handler = ConnectionHandler(
            id: nextConnectionID, stream: stream, peer: peer, secure: layer.secure, loop: self)
        if isAdmitted { handler.admittedPeer = peer }
        nextConnectionID += 1
        connections[handler.id] = handler
        handler.start()
        if !isAdmitted {
            refuse(handler, with: ConnectionRefusal.tooManyOfPeer)
        } else if count > options.connectionCountMax {
            refuse(handler, with: ConnectionRefusal.tooManyConnections)
        }
    }

    private func refuse(_ handler: ConnectionHandler, with frame: [UInt8]) {
        parts.counters.refusedConnections.add(1, ordering: .relaxed)
        guard handler.secure == nil, politeRefusalCount < Self.politeRefusalCountMax else {
            return handler.close()
        }
        politeRefusalCount += 1
        handler.isRefused = true
        handler.refuse(with: frame)
    }

    /// What lies between a connection's socket and its session.
    private struct Layer {
        /// Nil: nothing.
        var secure: SecureChannel?
    }

    /// The layer of a new connection; nil when too many handshakes are under way, or memory is
    /// short.
    private func layer(_ tls: TLSDoor?) -> Layer? {
        guard let tls else { return Layer(secure: nil) }
        guard handshakes.begin() else { return nil }
        do throws(OpenSSLError) {
            return Layer(
                secure: try SecureChannel(accepting: tls.context, buffers: tlsBuffers))
        } catch {
            handshakes.end()
            return nil
        }
    }
}

// MARK: - What connections hold

extension ServerLoop {
    /// A connection holds so many bytes now.
    func account(_ handler: ConnectionHandler, byteCount: Int) {
        guard byteCount != handler.accountedByteCount else { return }
        budget.change(from: handler.accountedByteCount, to: byteCount)
        handler.accountedByteCount = byteCount
    }

    /// Whether a connection has to go because all together hold too much.
    func mustShed(_ handler: ConnectionHandler) -> Bool {
        budget.isOver(
            heldByteCount: handler.accountedByteCount, connectionCount: connections.count)
    }
}
