internal import CLibuv

/// A bound socket, made before any loop runs, so that a bad address is an error at start.
///
/// Listening begins when a loop takes it with a `Listener`.
package final class ListeningSocket: Sendable {
    /// Where it is bound, with the port that the system chose.
    package let address: SocketAddress
    private let state: Locked<State>

    private struct State {
        var descriptor: Int32?
        var file: SocketFile?
    }

    /// The file of a Unix socket, by which it is known again before it is removed.
    private struct SocketFile: Equatable {
        var device: UInt64
        var inode: UInt64
    }

    /// Binds one socket for each of `count` loops.
    ///
    /// TCP: each loop gets a socket of its own (SO_REUSEPORT), so the kernel spreads connections
    /// and no lock is shared. As that option would also let a second server take half of the
    /// connections in silence, the port is first tried without it. Unix: the loops share one
    /// socket.
    ///
    /// - Throws: `UVError`: the address is in use, not of this machine, or not permitted; a file
    /// that
    ///   is no socket stands at the path.
    package static func bind(
        _ address: SocketAddress, count: Int
    ) throws(UVError) -> [ListeningSocket] {
        precondition(count > 0, "somebody has to listen")
        if case .unix(let path) = address {
            let first = try ListeningSocket(path: path)
            var all = [first]
            while all.count < count {
                let copy = try UVError.check(
                    cuv_duplicate(first.state.withLock { $0.descriptor ?? -1 }), "duplicate", path)
                // Only the first removes the file.
                all.append(ListeningSocket(address: address, descriptor: copy, file: nil))
            }
            return all
        }
        try ListeningSocket(address, sharesPort: false).close()
        var all = [try ListeningSocket(address, sharesPort: count > 1)]
        while all.count < count {
            all.append(try ListeningSocket(all[0].address, sharesPort: true))
        }
        return all
    }

    private init(address: SocketAddress, descriptor: Int32, file: SocketFile?) {
        self.address = address
        state = Locked(State(descriptor: descriptor, file: file))
    }

    /// A TCP socket.
    private convenience init(_ address: SocketAddress, sharesPort: Bool) throws(UVError) {
        let subject = address.description
        let descriptor = try Self.socket(for: address, subject)
        do {
            try UVError.check(
                cuv_allow_reuse(descriptor, sharesPort ? 1 : 0), "share the port of", subject)
            try Self.bind(descriptor, to: address, subject)
            let port = try UVError.check(cuv_bound_port(descriptor), "read the port of", subject)
            self.init(
                address: address.withPort(UInt16(truncatingIfNeeded: port)),
                descriptor: descriptor, file: nil)
        } catch {
            cuv_close(descriptor)
            throw error
        }
    }

    private static func socket(
        for address: SocketAddress, _ subject: String
    ) throws(UVError) -> Int32 {
        let family: Int32 =
            switch address {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        return try UVError.check(cuv_stream_socket(family), "open a socket for", subject)
    }

    private static func bind(
        _ descriptor: Int32, to address: SocketAddress, _ subject: String
    ) throws(UVError) {
        switch address {
        case .ipv4(let host, let port):
            var raw = sockaddr_in()
            try UVError.check(unsafe uv_ip4_addr(host, Int32(port), &raw), "bind", subject)
            try UVError.check(unsafe cuv_bind_ipv4(descriptor, &raw), "bind", subject)
        case .ipv6(let host, let port):
            var raw = sockaddr_in6()
            try UVError.check(unsafe uv_ip6_addr(host, Int32(port), &raw), "bind", subject)
            try UVError.check(cuv_only_ipv6(descriptor), "bind", subject)
            try UVError.check(unsafe cuv_bind_ipv6(descriptor, &raw), "bind", subject)
        case .unix(let path):
            try UVError.check(
                unsafe cuv_bind_unix(descriptor, path, path.utf8.count), "bind", subject)
        }
    }

    /// A Unix socket; takes the place of a stale file.
    private convenience init(path: String) throws(UVError) {
        let address = SocketAddress.unix(path: path)
        let subject = address.description
        try Self.removeStaleFile(path, subject)
        let descriptor = try Self.socket(for: address, subject)
        do {
            try Self.bind(descriptor, to: address, subject)
            // A socket that is bound and does not listen looks stale to the next server.
            try UVError.check(
                cuv_listen(descriptor, Listener.backlog), "listen on", subject)
            self.init(address: address, descriptor: descriptor, file: Self.file(at: path))
        } catch {
            cuv_close(descriptor)
            throw error
        }
    }

    private static func removeStaleFile(_ path: String, _ subject: String) throws(UVError) {
        var (device, inode) = (UInt64(0), UInt64(0))
        let kind = unsafe cuv_socket_file(path, &device, &inode)
        if kind == UV_ENOENT.rawValue { return }
        try UVError.check(kind, "look at", subject)
        guard kind == 1 else {
            throw UVError(code: UV_ENOTSOCK.rawValue, operation: "bind", subject: subject)
        }
        let probe = unsafe cuv_probe_unix(path, path.utf8.count)
        if probe == 0 {
            throw UVError(code: UV_EADDRINUSE.rawValue, operation: "bind", subject: subject)
        }
        guard probe == UV_ECONNREFUSED.rawValue else {
            throw UVError(code: probe, operation: "bind", subject: subject)
        }
        try UVError.check(unsafe cuv_unlink(path), "remove the stale socket", subject)
    }

    private static func file(at path: String) -> SocketFile? {
        var (device, inode) = (UInt64(0), UInt64(0))
        guard unsafe cuv_socket_file(path, &device, &inode) == 1 else { return nil }
        return SocketFile(device: device, inode: inode)
    }

    /// Gives the descriptor away; the file stays this object's.
    func takeDescriptor() -> Int32? {
        state.withLock { state in
            let descriptor = state.descriptor
            state.descriptor = nil
            return descriptor
        }
    }

    /// Closes the socket if no loop has taken it, and removes the file of a Unix socket if it is
    /// still the one that was made here. Call it when the listeners have ended: a path on which
    /// somebody listens is left alone. A second call does nothing.
    package func close() {
        let old = state.withLock { state in
            let old = state
            state = State()
            return old
        }
        if let descriptor = old.descriptor { cuv_close(descriptor) }
        guard case .unix(let path) = address, let file = old.file else { return }
        // The inode alone does not tell: file systems give it out again at once.
        if Self.file(at: path) == file,
            unsafe cuv_probe_unix(path, path.utf8.count) == UV_ECONNREFUSED.rawValue
        {
            unsafe cuv_unlink(path)
        }
    }

    deinit { close() }
}
