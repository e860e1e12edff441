internal import CMicrohttpd
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A running daemon of libmicrohttpd, and the callbacks by which it calls a `ListenerCore`.
///
/// `@unchecked Sendable`: the library locks what its daemon's functions touch; `DaemonRelay` calls
/// `quiesce` and `stop` once each.
@safe final class DaemonHandle: @unchecked Sendable {
    private let daemon: OpaquePointer
    private let context: Unmanaged<ListenerCore>
    /// Kept as long as the daemon: the library copies neither.
    private let identity: (certificate: CString, key: CString)?

    /// Starts the daemon's threads.
    ///
    /// - Returns: nil when the library refuses; `socket` is still the caller's then.
    init?(_ core: ListenerCore, socket: BoundSocket, identity shown: HTTPServerIdentity?) {
        let options = core.options
        identity = shown.map {
            (CString($0.certificateChain), CString($0.privateKey))
        }
        unsafe context = Unmanaged.passRetained(core)
        var settings = unsafe entitled_mhd_settings()
        unsafe settings.listen_socket = socket.descriptor
        unsafe settings.is_ipv6 = socket.isIPv6 ? 1 : 0
        // Twice: connections that were cut to make room stay until the library has noticed.
        unsafe settings.connection_max = UInt32(2 * options.connectionCountMax + 16)
        unsafe settings.idle_seconds = UInt32(options.idleSeconds)
        unsafe settings.thread_count = UInt32(options.ioThreadCount)
        unsafe settings.connection_memory_max = options.headByteCountMax
        unsafe settings.certificate = unsafe identity?.certificate.pointer
        unsafe settings.key = unsafe identity?.key.pointer
        unsafe settings.context = unsafe context.toOpaque()
        unsafe Self.setConnectionCallbacks(&settings)
        unsafe Self.setRequestCallbacks(&settings)
        guard let daemon = unsafe entitled_mhd_start(&settings) else {
            unsafe context.release()
            return nil
        }
        unsafe self.daemon = unsafe daemon
    }

    /// Accepts nobody any more. The socket is the caller's again, to be closed after `stop`.
    func quiesce() { _ = unsafe MHD_quiesce_daemon(daemon) }

    /// How many connections are open.
    var connectionCount: Int { Int(unsafe entitled_mhd_connection_count(daemon)) }

    /// Closes every connection and ends the threads. No connection may be suspended.
    func stop() {
        unsafe MHD_stop_daemon(daemon)
        unsafe context.release()
    }

    private static func setConnectionCallbacks(_ settings: inout entitled_mhd_settings) {
        unsafe settings.accepts = { context, address, _ in
            guard let core = unsafe listenerCore(context) else { return MHD_Result.NO }
            return unsafe core.registry.accepts(PeerAddress(address))
                ? MHD_Result.YES : MHD_Result.NO
        }
        unsafe settings.connection_changed = { context, connection, slot, event in
            guard let core = unsafe listenerCore(context), let slot = unsafe slot else { return }
            if event == .CONNECTION_NOTIFY_STARTED {
                let peer = unsafe core.registry.open(
                    descriptor: entitled_mhd_descriptor(connection),
                    peer: PeerAddress(entitled_mhd_peer(connection)))
                unsafe slot.pointee = Unmanaged.passRetained(peer).toOpaque()
            } else if let opaque = unsafe slot.pointee {
                let peer = unsafe Unmanaged<PeerConnection>.fromOpaque(opaque).takeRetainedValue()
                unsafe slot.pointee = nil
                core.registry.close(peer)
                if peer.mustLinger { core.watch.wake() }
            }
        }
    }

    private static func setRequestCallbacks(_ settings: inout entitled_mhd_settings) {
        unsafe settings.request_began = { context, target, connection in
            guard let core = unsafe listenerCore(context), let target = unsafe target,
                let opaque = unsafe entitled_mhd_connection_context(connection)
            else { return nil }
            let peer = unsafe Unmanaged<PeerConnection>.fromOpaque(opaque).takeUnretainedValue()
            core.registry.beganRequest(peer)
            let exchange = unsafe Exchange(rawTarget: String(cString: target), connection: peer)
            return unsafe Unmanaged.passRetained(exchange).toOpaque()
        }
        unsafe settings.received = {
            context, connection, _, method, version, piece, pieceCount, slot in
            guard let core = unsafe listenerCore(context), let connection = unsafe connection,
                let method = unsafe method, let version = unsafe version,
                let pieceCount = unsafe pieceCount, let opaque = unsafe slot?.pointee
            else { return MHD_Result.NO }
            let exchange = unsafe Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
            let bytes = unsafe UnsafeRawBufferPointer(
                start: piece, count: piece == nil ? 0 : pieceCount.pointee)
            let result = unsafe core.received(
                exchange, on: connection, method: String(cString: method),
                version: String(cString: version), piece: bytes)
            // All of it was taken.
            if unsafe piece != nil { unsafe pieceCount.pointee = 0 }
            return result
        }
        unsafe settings.request_ended = { context, _, slot, reason in
            guard let core = unsafe listenerCore(context), let slot = unsafe slot,
                let opaque = unsafe slot.pointee
            else { return }
            let exchange = unsafe Unmanaged<Exchange>.fromOpaque(opaque).takeRetainedValue()
            unsafe slot.pointee = nil
            core.ended(exchange, isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
        }
    }
}

/// The first argument of every callback.
private func listenerCore(_ context: UnsafeMutableRawPointer?) -> ListenerCore? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
}

/// A text that C may keep.
@safe private final class CString {
    let pointer: UnsafePointer<CChar>

    init(_ bytes: [UInt8]) {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
        unsafe copy[bytes.count] = 0
        unsafe pointer = unsafe UnsafePointer(copy)
    }

    deinit { unsafe pointer.deallocate() }
}

extension PeerAddress {
    /// The peer of a connection; all unknown kinds are one.
    fileprivate init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self.init(high: 0, low: 0)
            return
        }
        let raw = unsafe UnsafeRawPointer(address)
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            let host = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: host)))
        case AF_INET6:
            let host = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            let (high, low) = unsafe withUnsafeBytes(of: host) { bytes in
                unsafe (
                    bytes.loadUnaligned(as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                )
            }
            self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default:
            self.init(high: 0, low: 0)
        }
    }
}
