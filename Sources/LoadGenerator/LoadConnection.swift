internal import CLinux
internal import EventLoop
internal import Glibc
internal import OpenSSL
internal import Wire

/// One connection of the generator: its socket, what it has in flight, what it has to say.
struct LoadConnection<Dialogue: LoadDialogue & ~Copyable>: ~Copyable {
    let socket: Int32
    var dialogue: Dialogue
    var ledger: AnswerLedger
    /// What the kernel has not taken yet.
    var pending = OutputBuffer()
    /// The beginning of an answer whose end has not come.
    var leftover = OutputBuffer()
    /// Whether the poller tells of room for output.
    var isWatchedForOutput = false
    /// Whether requests may be sent.
    var isOpen: Bool
    /// Nil: plain text.
    let channel: TLSChannel?

    init(
        socket: Int32, channel: TLSChannel?, dialogue: consuming Dialogue,
        ledger: consuming AnswerLedger
    ) {
        self.socket = socket
        self.channel = channel
        isOpen = !dialogue.hasGreeting
        self.dialogue = dialogue
        self.ledger = ledger
    }

    deinit { clinux_close(socket) }
}

/// Calls of sockets.
enum LoadSocket {
    /// A connected socket that does not block.
    ///
    /// - Throws: `LoadError.connectFailed`.
    static func connect(_ address: SocketAddress) throws(LoadError) -> Int32 {
        let result =
            switch address {
            case .ipv4(let host, let port): unsafe clinux_connect_ipv4(host, port)
            case .ipv6(let host, let port): unsafe clinux_connect_ipv6(host, port)
            case .unix(let path): unsafe clinux_connect_unix(path)
            }
        guard result >= 0 else {
            throw .connectFailed(address: address.description, code: -result)
        }
        return result
    }

    /// Sends the front of `bytes`; how many bytes the kernel took.
    ///
    /// - Throws: `LoadError.connectionLost`.
    static func send(_ bytes: Span<UInt8>, to socket: Int32) throws(LoadError) -> Int {
        let count = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe clinux_send(socket, buffer.baseAddress, buffer.count)
        }
        if count >= 0 { return Int(count) }
        if count == -Int64(EAGAIN) { return 0 }
        throw .connectionLost(code: Int32(-count))
    }
}
