import OpenSSL

/// Two ends of a connection in one thread.
final class TLSPair {
    let clientBuffers = TLSBuffers()
    let serverBuffers = TLSBuffers()
    let client: TLSChannel
    let server: TLSChannel
    /// What each side has decrypted.
    var atClient: [UInt8] = []
    var atServer: [UInt8] = []

    init(
        client: TLSContext, server: TLSContext, host: String = "localhost",
        resuming session: TLSSession? = nil
    ) throws {
        self.client = try TLSChannel(
            connecting: client, buffers: clientBuffers, host: host, resuming: session)
        self.server = try TLSChannel(accepting: server, buffers: serverBuffers)
    }

    /// Carries what each side has to say to the other one, in pieces, until both are silent.
    func exchange(pieceByteCountMax: Int = .max) {
        while clientBuffers.hasOutput || serverBuffers.hasOutput {
            for piece in Self.pieces(of: clientBuffers, pieceByteCountMax) {
                server.receive(piece.span) { atServer += Self.copy($0) }
            }
            for piece in Self.pieces(of: serverBuffers, pieceByteCountMax) {
                client.receive(piece.span) { atClient += Self.copy($0) }
            }
        }
    }

    static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }

    static func outputByteCount(of buffers: TLSBuffers) -> Int { buffers.output.count }

    static func pieces(of buffers: TLSBuffers, _ byteCountMax: Int) -> [[UInt8]] {
        let bytes = copy(buffers.output)
        buffers.removeOutput()
        let step = min(byteCountMax, TLSBuffers.inputByteCountMax)
        return stride(from: 0, to: bytes.count, by: step).map {
            Array(bytes[$0..<min($0 + step, bytes.count)])
        }
    }
}
