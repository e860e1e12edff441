internal import OpenSSL

/// The TLS side of one connection: the channel, and bytes of the handshake that wait for a turn.
///
/// Loop thread only.
final class SecureChannel {
    let channel: TLSChannel
    let buffers: TLSBuffers
    /// What arrived and waits in the loop's `HandshakeQueue`; nothing is read meanwhile.
    var waiting: [UInt8] = []
    /// Whether it counts among the handshakes of its loop.
    var isHandshaking = true

    /// Where it stands among the `WarmChannels`; nil = it is none of them.
    var warmPlace: Int?
    /// Whether the library keeps its buffers for it.
    var isWarm: Bool { warmPlace != nil }

    /// - Throws: `OpenSSLError` when memory is short.
    init(accepting context: TLSContext, buffers: TLSBuffers) throws(OpenSSLError) {
        channel = try TLSChannel(accepting: context, buffers: buffers)
        self.buffers = buffers
    }

    /// Whether answers can be sent.
    var canSend: Bool { channel.state == .open || channel.state == .ended }
}
