import EventLoop
import OpenSSL
import TestSupport
import Transport
import Wire

/// A server that speaks TLS, and whom it takes.
final class TLSBench {
    let authority: TLSAuthority
    let door: TLSDoor
    let bench: ServerBench

    init(
        clientAuthority: TLSAuthority? = nil, _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        let authority = try TLSAuthority()
        self.authority = authority
        let door = TLSDoor(
            try TLSContext(
                server: try authority.server(), clientAuthorities: clientAuthority?.pem,
                minimumVersion: .tls12))
        self.door = door
        bench = try ServerBench { options in
            options.tls = door
            change(&options)
        }
    }

    func connect(_ identity: TLSContext.Identity? = nil) throws -> TLSClient {
        try TLSClient(
            try bench.connect(), try TLSContext(client: authority.pem, identity: identity))
    }

    func end() { bench.end() }
}

/// A blocking client that speaks TLS over a `TestClient`.
final class TLSClient {
    let raw: TestClient
    let buffers = TLSBuffers()
    let channel: TLSChannel
    private var received: [UInt8] = []

    init(_ raw: TestClient, _ context: TLSContext) throws {
        self.raw = raw
        channel = try TLSChannel(connecting: context, buffers: buffers, host: "127.0.0.1")
    }

    /// Sends what the channel has to say.
    func flush() { raw.send(takeOutput()) }

    /// What the channel has to say.
    func takeOutput() -> [UInt8] {
        let buffers = buffers
        let output = Text(copying: buffers.output).bytes
        buffers.removeOutput()
        return output
    }

    /// Goes on with the handshake until it is over.
    func shakeHands() throws {
        flush()
        while channel.state == .handshaking, try receive() {}
    }

    /// Takes what comes next; false = the server has closed.
    func receive() throws -> Bool {
        let bytes = try raw.receive()
        guard !bytes.isEmpty else { return false }
        channel.receive(bytes.span) { received += Text(copying: $0).bytes }
        flush()
        return true
    }

    func send(_ bytes: [UInt8]) throws {
        try channel.send(bytes.span)
        flush()
    }

    func send(_ request: Request) throws {
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        try send(Text(copying: output.bytes).bytes)
    }

    /// The next answer; nil = there is none any more.
    func answer() throws -> Response? {
        while true {
            var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
            var position = 0
            let held = received
            let span = held.span
            if let body = try decoder.next(in: span, from: &position) {
                let response = try Response(
                    decoding: decoder.bytes(of: body, in: span), in: MessageArena())
                received.removeFirst(position)
                return response
            }
            guard try receive() else { return nil }
        }
    }
}
