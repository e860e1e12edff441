internal import CLibuv

/// What a connection tells its owner; all on the loop's thread.
package protocol StreamHandler: AnyObject {
    /// A connection made with `connect` is open; it does not read yet.
    func streamDidConnect(_ stream: StreamConnection)
    /// Bytes arrived. `bytes` lies in the loop's buffer and is gone after the call.
    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>)
    /// The peer has closed its write side. Ours is open until `shutdownWrites` or `close`.
    func streamDidReachEnd(_ stream: StreamConnection)
    /// Connecting, reading or a queued write failed. Nothing more will arrive: close it.
    func stream(_ stream: StreamConnection, didFail error: UVError)
    /// A queued write has left; `queuedByteCount` has fallen.
    func streamDidWrite(_ stream: StreamConnection)
    /// The last call.
    func streamDidClose(_ stream: StreamConnection)
}

extension StreamHandler {
    /// Only clients connect.
    package func streamDidConnect(_ stream: StreamConnection) {}
}

/// One TCP or Unix-socket connection.
///
/// It retains its handler until it is closed. TCP_NODELAY is set: answers are batched by us.
package final class StreamConnection: LoopHandle {
    /// How long a connection may be silent before the kernel asks whether the peer is there.
    private static let keepAliveSecondCount: UInt32 = 60

    /// Who is told; nil = nobody, and what arrives is dropped.
    package var handler: (any StreamHandler)? {
        get { unsafe uncheckedHandler }
        set { unsafe uncheckedHandler = newValue }
    }
    @exclusivity(unchecked) private var uncheckedHandler: (any StreamHandler)?
    /// Whether bytes are being asked for.
    package private(set) var isReading: Bool {
        get { unsafe uncheckedIsReading }
        set { unsafe uncheckedIsReading = newValue }
    }
    @exclusivity(unchecked) private var uncheckedIsReading: Bool = false
    let isUnix: Bool
    private var isWriteShutDown: Bool {
        get { unsafe uncheckedIsWriteShutDown }
        set { unsafe uncheckedIsWriteShutDown = newValue }
    }
    @exclusivity(unchecked) private var uncheckedIsWriteShutDown: Bool = false

    init(loop: Loop, isUnix: Bool) throws(UVError) {
        self.isUnix = isUnix
        if isUnix {
            try unsafe super.init(loop: loop, uv_pipe_t.self, "create a connection") {
                unsafe uv_pipe_init($0, $1, 0)
            }
        } else {
            try unsafe super.init(loop: loop, uv_tcp_t.self, "create a connection") {
                unsafe uv_tcp_init($0, $1)
            }
        }
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe pointer(as: uv_stream_t.self)
    }

    /// After accept or connect.
    func wasOpened() {
        guard !isUnix else { return }
        // These fail only on a socket that is dead already; the next read says so. Keep-alive finds
        // the peers that went away without a word, which would hold a descriptor for ever.
        unsafe uv_tcp_nodelay(pointer(as: uv_tcp_t.self), 1)
        unsafe uv_tcp_keepalive(
            pointer(as: uv_tcp_t.self), 1, StreamConnection.keepAliveSecondCount)
    }

    /// Starts to connect; `streamDidConnect` or `stream(_:didFail:)` follows.
    ///
    /// - Throws: `UVError` when the system refuses at once.
    package static func connect(
        to address: SocketAddress, loop: Loop, handler: any StreamHandler
    ) throws(UVError) -> StreamConnection {
        var isUnix = false
        if case .unix = address { isUnix = true }
        let connection = try StreamConnection(loop: loop, isUnix: isUnix)
        connection.handler = handler
        do throws(UVError) {
            try connection.startConnecting(to: address)
        } catch {
            connection.handler = nil
            connection.close()
            throw error
        }
        return connection
    }

    private func startConnecting(to address: SocketAddress) throws(UVError) {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_connect_t())
        let result: Int32
        switch address {
        case .ipv4(let host, let port):
            var raw = sockaddr_in()
            unsafe uv_ip4_addr(host, Int32(port), &raw)
            result = unsafe withUnsafePointer(to: &raw) {
                unsafe connectTCP(request, UnsafeRawPointer($0))
            }
        case .ipv6(let host, let port):
            var raw = sockaddr_in6()
            unsafe uv_ip6_addr(host, Int32(port), &raw)
            result = unsafe withUnsafePointer(to: &raw) {
                unsafe connectTCP(request, UnsafeRawPointer($0))
            }
        case .unix(let path):
            guard path.utf8.count <= SocketAddress.pathByteCountMax else {
                unsafe request.deallocate()
                throw UVError(
                    code: UV_ENAMETOOLONG.rawValue, operation: "connect", subject: path)
            }
            unsafe uv_pipe_connect(
                request, pointer(as: uv_pipe_t.self), path, StreamConnection.connectCallback)
            return
        }
        guard result == 0 else {
            unsafe request.deallocate()
            throw UVError(code: result, operation: "connect", subject: address.description)
        }
    }

    private func connectTCP(
        _ request: UnsafeMutablePointer<uv_connect_t>, _ address: UnsafeRawPointer
    ) -> Int32 {
        unsafe uv_tcp_connect(
            request, pointer(as: uv_tcp_t.self), address.assumingMemoryBound(to: sockaddr.self),
            StreamConnection.connectCallback)
    }

    private static let connectCallback: uv_connect_cb = { request, status in
        guard let request = unsafe request else { return }
        let connection = unsafe StreamConnection.receiver(request.pointee.handle)
        unsafe request.deallocate()
        // A closing handle gets its callback with ECANCELED: its owner has asked for no more.
        guard !connection.isClosing else { return }
        if status == 0 {
            connection.wasOpened()
            connection.handler?.streamDidConnect(connection)
        } else {
            let error = UVError(code: status, operation: "connect")
            connection.handler?.stream(connection, didFail: error)
        }
    }

    // MARK: Reading

    /// Asks for bytes; does nothing when it reads already, has ended or is closing.
    package func startReading() {
        guard !isReading, !isClosing else { return }
        let result = unsafe uv_read_start(
            stream,
            { handle, _, buffer in
                guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
                unsafe buffer.pointee = StreamConnection.readBuffer(for: handle)
            }, StreamConnection.readCallback)
        isReading = result == 0
    }

    /// The loop's buffer; no buffer for a stream that has had its turn. What is left in its socket
    /// comes in the next iteration: one peer with much in flight took 30 ms of everybody's time
    /// when it was read until it was empty.
    private static func readBuffer(for handle: UnsafeMutablePointer<uv_handle_t>) -> uv_buf_t {
        let state = unsafe readState(of: handle)
        if unsafe state.pointee.filledBy == handle {
            unsafe state.pointee.filledBy = nil
            return unsafe uv_buf_t(base: nil, len: 0)
        }
        return unsafe uv_buf_t(base: state.pointee.buffer, len: Loop.readByteCountMax)
    }

    private static func readState(
        of handle: UnsafeMutablePointer<uv_handle_t>
    ) -> UnsafeMutablePointer<Loop.ReadState> {
        guard let data = unsafe handle.pointee.loop.pointee.data else {
            preconditionFailure("a loop has its state from the start")
        }
        return unsafe data.assumingMemoryBound(to: Loop.ReadState.self)
    }

    /// Asks for no more bytes: the peer is held back by TCP once the kernel's buffers are full.
    package func stopReading() {
        guard isReading else { return }
        isReading = false
        if !isClosing { unsafe uv_read_stop(stream) }
    }

    private static let readCallback: uv_read_cb = { handle, byteCount, buffer in
        let connection = unsafe StreamConnection.receiver(handle)
        if byteCount > 0, let base = unsafe buffer?.pointee.base {
            if byteCount == Loop.readByteCountMax {
                unsafe connection.loop.readState.pointee.filledBy = connection.raw
            }
            let bytes = unsafe Span<UInt8>(
                _unsafeStart: UnsafeRawPointer(base).assumingMemoryBound(to: UInt8.self),
                count: byteCount)
            connection.handler?.stream(connection, didRead: bytes)
        } else if byteCount < 0, byteCount != Int(UV_ENOBUFS.rawValue) {
            connection.stopReading()
            connection.readingEnded(Int32(truncatingIfNeeded: byteCount))
        }
    }

    private func readingEnded(_ code: Int32) {
        guard !isClosing else { return }
        let result = code == UV_EOF.rawValue ? unsafe cuv_end_of_stream(stream) : code
        if result == 0 {
            handler?.streamDidReachEnd(self)
        } else {
            handler?.stream(self, didFail: UVError(code: result, operation: "read"))
        }
    }

    // MARK: Writing

    /// Bytes that are queued in this process and not yet the kernel's.
    package var queuedByteCount: Int {
        isClosing ? 0 : Int(unsafe uv_stream_get_write_queue_size(stream))
    }

    /// Writes what the kernel takes at once, without a copy or an allocation.
    ///
    /// - Returns: How many bytes it took; 0 when it would block or when writes are queued.
    /// - Throws: `UVError` when the connection is broken: close it.
    package func tryWrite(_ bytes: Span<UInt8>) throws(UVError) -> Int {
        guard !bytes.isEmpty, !isClosing, !isWriteShutDown else { return 0 }
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            var buffer = unsafe StreamConnection.buffer(of: bytes)
            return unsafe uv_try_write(stream, &buffer, 1)
        }
        if result == UV_EAGAIN.rawValue { return 0 }
        return Int(try UVError.check(result, "write"))
    }

    /// Writes all of `bytes`: what the kernel takes at once, then a queued copy of the rest, whose
    /// end `streamDidWrite` reports.
    ///
    /// - Throws: `UVError` when the connection is broken: close it.
    package func write(_ bytes: Span<UInt8>) throws(UVError) {
        let written = try tryWrite(bytes)
        guard written < bytes.count, !isClosing, !isWriteShutDown else { return }
        try enqueue(bytes.extracting(written..<bytes.count))
    }

    /// Copies `bytes` behind the request: one allocation for both.
    private func enqueue(_ bytes: Span<UInt8>) throws(UVError) {
        let headByteCount = unsafe MemoryLayout<uv_write_t>.stride
        let memory = unsafe UnsafeMutableRawPointer.allocate(
            byteCount: headByteCount + bytes.count, alignment: MemoryLayout<uv_write_t>.alignment)
        let request = unsafe memory.bindMemory(to: uv_write_t.self, capacity: 1)
        unsafe request.initialize(to: uv_write_t())
        let result = unsafe bytes.withUnsafeBufferPointer { source in
            let copy = unsafe UnsafeMutableRawBufferPointer(
                start: memory + headByteCount, count: source.count)
            unsafe copy.copyMemory(from: UnsafeRawBufferPointer(source))
            let copied = UnsafeRawBufferPointer(copy)
            var buffer = unsafe StreamConnection.buffer(
                of: copied.assumingMemoryBound(to: UInt8.self))
            return unsafe uv_write(request, stream, &buffer, 1, StreamConnection.writeCallback)
        }
        guard result == 0 else {
            unsafe memory.deallocate()
            throw UVError(code: result, operation: "write")
        }
    }

    private static func buffer(of bytes: UnsafeBufferPointer<UInt8>) -> uv_buf_t {
        let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        let characters = unsafe base?.assumingMemoryBound(to: CChar.self)
        return unsafe uv_buf_t(base: characters, len: bytes.count)
    }

    private static let writeCallback: uv_write_cb = { request, status in
        guard let request = unsafe request else { return }
        let connection = unsafe StreamConnection.receiver(request.pointee.handle)
        unsafe UnsafeMutableRawPointer(request).deallocate()
        guard !connection.isClosing else { return }
        if status == 0 {
            connection.handler?.streamDidWrite(connection)
        } else {
            connection.handler?.stream(
                connection, didFail: UVError(code: status, operation: "write"))
        }
    }

    /// Ends the write side once all that is queued has left: the peer reads the end of the stream.
    package func shutdownWrites() {
        guard !isClosing, !isWriteShutDown else { return }
        isWriteShutDown = true
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_shutdown_t())
        let result = unsafe uv_shutdown(request, stream) { request, _ in
            // A failure means that the peer is gone: reading reports it.
            unsafe request?.deallocate()
        }
        if result != 0 { unsafe request.deallocate() }
    }

    /// Closes at once with a reset: what is queued is lost and the peer sees an error.
    package func reset() {
        guard !isClosing else { return }
        if !isUnix, !isWriteShutDown { unsafe cuv_linger_nothing(stream) }
        close()
    }

    override func willClose() { isReading = false }

    override func didClose() {
        let last = handler
        handler = nil
        last?.streamDidClose(self)
    }
}
