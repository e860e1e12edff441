internal import CLibuv

/// Accepts connections of one listening socket on one loop.
package final class Listener: LoopHandle {
    /// Connections that may wait for `accept`; the kernel cuts it to `net.core.somaxconn`.
    package static let backlog: Int32 = 4_096

    /// Where it listens.
    package let address: SocketAddress
    private var onAccept: ((Listener, Result<StreamConnection, UVError>) -> Void)?
    private let isUnix: Bool
    /// Connections accepted in a row: everybody else has a turn then. libuv would go on until
    /// nobody waits, at some 25 us for each, while requests of others wait.
    private static let burstCountMax = 16
    private var burstCount = 0
    /// The loop's time, which stands still during an iteration, when the burst began.
    private var burstMilliseconds: UInt64 = 0
    /// Goes on with the next burst.
    private var nextBurst: Timer?

    /// Takes the descriptor of `socket` and listens.
    ///
    /// - Parameters:
    ///   - loop: Whose connections they become.
    ///   - socket: Bound, and not taken by another listener.
    ///   - onAccept: Gets each new connection, not reading yet. An error (no descriptors left)
    ///     means that one connection was lost; the listener goes on.
    /// - Throws: `UVError`; the descriptor is closed then.
    package init(
        loop: Loop, socket: ListeningSocket,
        onAccept: @escaping (Listener, Result<StreamConnection, UVError>) -> Void
    ) throws(UVError) {
        address = socket.address
        if case .unix = socket.address { isUnix = true } else { isUnix = false }
        self.onAccept = onAccept
        guard let descriptor = socket.takeDescriptor() else {
            throw UVError(
                code: UV_EBADF.rawValue, operation: "listen on", subject: "\(socket.address)")
        }
        do throws(UVError) {
            if isUnix {
                try unsafe super.init(loop: loop, uv_pipe_t.self, "create a listener") {
                    unsafe uv_pipe_init($0, $1, 0)
                }
            } else {
                try unsafe super.init(loop: loop, uv_tcp_t.self, "create a listener") {
                    unsafe uv_tcp_init($0, $1)
                }
            }
        } catch {
            cuv_close(descriptor)
            throw error
        }
        try listen(descriptor)
    }

    private func listen(_ descriptor: Int32) throws(UVError) {
        let opened =
            isUnix
            ? unsafe uv_pipe_open(pointer(as: uv_pipe_t.self), descriptor)
            : unsafe uv_tcp_open(pointer(as: uv_tcp_t.self), descriptor)
        do throws(UVError) {
            if opened < 0 { cuv_close(descriptor) }
            try UVError.check(opened, "listen on", address.description)
            let result = unsafe uv_listen(pointer(as: uv_stream_t.self), Listener.backlog) {
                let listener = unsafe Listener.receiver($0)
                listener.accept($1)
            }
            try UVError.check(result, "listen on", address.description)
        } catch {
            close()
            throw error
        }
    }

    private func accept(_ status: Int32) {
        guard !isClosing, let onAccept else { return }
        guard status == 0 else {
            let error = UVError(code: status, operation: "accept", subject: address.description)
            return onAccept(self, .failure(error))
        }
        if isBurstOver, postpone() { return }
        acceptNext(onAccept)
    }

    private var isBurstOver: Bool {
        if loop.nowMilliseconds != burstMilliseconds {
            burstMilliseconds = loop.nowMilliseconds
            burstCount = 0
        }
        burstCount += 1
        return burstCount > Self.burstCountMax
    }

    /// Leaves the connection with libuv, which asks for no further one until it is taken.
    ///
    /// - Returns: false where there is no memory for that: it is to be taken now.
    private func postpone() -> Bool {
        do throws(UVError) {
            if nextBurst == nil {
                nextBurst = try Timer(loop: loop) { [unowned self] in beginBurst() }
            }
            nextBurst?.start(afterMilliseconds: 0)
            return true
        } catch {
            return false
        }
    }

    private func beginBurst() {
        guard !isClosing, let onAccept else { return }
        burstMilliseconds = loop.nowMilliseconds
        burstCount = 1
        acceptNext(onAccept)
    }

    private func acceptNext(
        _ onAccept: (Listener, Result<StreamConnection, UVError>) -> Void
    ) {
        do throws(UVError) {
            let connection = try StreamConnection(loop: loop, isUnix: isUnix)
            let result = unsafe uv_accept(
                pointer(as: uv_stream_t.self), connection.pointer(as: uv_stream_t.self))
            guard result == 0 else {
                connection.close()
                throw UVError(code: result, operation: "accept", subject: address.description)
            }
            connection.wasOpened()
            onAccept(self, .success(connection))
        } catch {
            onAccept(self, .failure(error))
        }
    }

    override func willClose() { nextBurst?.close() }

    override func didClose() {
        onAccept = nil
        nextBurst = nil
    }
}
