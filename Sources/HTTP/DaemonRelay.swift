/// The daemons of one listener: one that accepts, and those before it, which showed another
/// certificate and serve the connections that they have to their end.
///
/// libmicrohttpd takes a certificate when a daemon starts, so another certificate is another
/// daemon, with a descriptor of its own for the same listening socket: nobody is turned away
/// meanwhile. One that was relieved goes when another one is, once it has no connection left, or
/// with the listener; until then it is a thread that waits.
final class DaemonRelay: Sendable {
    private struct Post: Sendable {
        let daemon: DaemonHandle
        let socket: BoundSocket

        /// Closes its connections, of which none may be suspended.
        func leave() {
            daemon.stop()
            closeDescriptor(socket.descriptor)
        }
    }

    private struct Posts: Sendable {
        /// Accepts; nil once the listener has been told to stop.
        var accepting: Post?
        var relieved: [Post] = []
    }

    private let core: ListenerCore
    private let posts: Monitor<Posts>

    /// Starts the first daemon.
    ///
    /// - Returns: nil when the library refuses; `socket` is still the caller's then.
    init?(_ core: ListenerCore, socket: BoundSocket) {
        guard let first = DaemonHandle(core, socket: socket, identity: core.options.identity)
        else { return nil }
        self.core = core
        posts = Monitor(Posts(accepting: Post(daemon: first, socket: socket)))
    }

    /// Has new connections served with another certificate.
    ///
    /// - Returns: whether that is so: not where the library refuses, which leaves all as it was,
    ///   nor after `quiesce`.
    func relieve(with identity: HTTPServerIdentity) -> Bool {
        posts.withLock { posts in
            guard let before = posts.accepting, let socket = before.socket.duplicate() else {
                return false
            }
            guard let next = DaemonHandle(core, socket: socket, identity: identity) else {
                closeDescriptor(socket.descriptor)
                return false
            }
            before.daemon.quiesce()
            posts.accepting = Post(daemon: next, socket: socket)
            posts.relieved.append(before)
            posts.relieved.removeAll { post in
                guard post.daemon.connectionCount == 0 else { return false }
                post.leave()
                return true
            }
            return true
        }
    }

    /// Accepts nobody any more.
    func quiesce() {
        posts.withLock { posts in
            guard let last = posts.accepting else { return }
            posts.accepting = nil
            posts.relieved.append(last)
            last.daemon.quiesce()
            // Without this the kernel would go on accepting into its own queue.
            stopListening(last.socket.descriptor)
        }
    }

    /// Closes every connection and ends all threads, after `quiesce`. No connection may be
    /// suspended.
    func stop() {
        let all = posts.withLock { posts in
            defer { posts.relieved = [] }
            return posts.relieved
        }
        for post in all { post.leave() }
    }
}
