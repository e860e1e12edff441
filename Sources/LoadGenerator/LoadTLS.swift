internal import CLinux
internal import EventLoop
internal import Glibc
package import OpenSSL
internal import Wire

/// TLS of the generator's connections: whom they trust, and the name that the server must carry.
package struct LoadTLS: Equatable, Sendable {
    /// Whom the connections trust.
    package let context: TLSContext
    /// The name or address in the server's certificate.
    package let host: String

    /// TLS to a server of this name.
    package init(context: TLSContext, host: String) {
        self.context = context
        self.host = host
    }

    /// The same context, not one of the same content.
    package static func == (one: LoadTLS, other: LoadTLS) -> Bool {
        one.context === other.context && one.host == other.host
    }

    /// Shakes hands on a connected socket, waiting for the server.
    ///
    /// - Throws: `LoadError.refused` with what was wrong, `.stalled`, `.connectionLost`.
    func connect(
        _ socket: Int32, buffers: TLSBuffers, within nanoseconds: UInt64
    ) throws(LoadError) -> TLSChannel {
        let channel: TLSChannel
        do throws(OpenSSLError) {
            channel = try TLSChannel(connecting: context, buffers: buffers, host: host)
        } catch {
            throw .refused("\(error)")
        }
        let limit = LoadClock.now + nanoseconds
        var input = [UInt8](repeating: 0, count: 16 << 10)
        while channel.state == .handshaking || buffers.hasOutput {
            guard LoadClock.now < limit else { throw .stalled(nanoseconds: nanoseconds) }
            try Self.send(buffers, to: socket)
            guard channel.state == .handshaking else { break }
            let count = unsafe input.withUnsafeMutableBufferPointer {
                unsafe clinux_receive(socket, $0.baseAddress, $0.count)
            }
            if count == -Int64(EAGAIN) {
                usleep(50)
                continue
            }
            guard count > 0 else { throw .connectionLost(code: Int32(-count)) }
            channel.receive(input.span.extracting(0..<Int(count))) { _ in }
        }
        if let failure = channel.failure { throw .refused("\(failure)") }
        return channel
    }

    /// A handshake's few hundred bytes always fit the kernel's buffer.
    private static func send(_ buffers: TLSBuffers, to socket: Int32) throws(LoadError) {
        guard buffers.hasOutput else { return }
        defer { buffers.removeOutput() }
        _ = try LoadSocket.send(buffers.output, to: socket)
    }
}
