import EventLoop
import Glibc
import Testing
import Wire

/// Sleeps a millisecond: for tests that wait for another thread.
func pause() { usleep(1_000) }

/// A blocking client that sends bytes as they are and reads whole frames.
final class TestClient {
    private let descriptor: Int32
    private let arena = MessageArena(byteCountMax: 16 << 20)
    private var received: [UInt8] = []

    init(_ address: SocketAddress) throws {
        switch address {
        case .ipv4(_, let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = port.bigEndian
            raw.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = unsafe withUnsafePointer(to: &raw) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else { throw ClientFailure.cannotConnect(errno) }
        default:
            throw ClientFailure.cannotConnect(EAFNOSUPPORT)
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Glibc.close(descriptor) }

    enum ClientFailure: Error {
        case cannotConnect(Int32)
        case timedOut
        case partialFrame(Int)
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor, $0.baseAddress.map { unsafe $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    func send(_ request: Request) throws {
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        send(Text(copying: output.bytes).bytes)
    }

    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next response; nil at the end of the stream or after a reset.
    func next() throws -> Response? {
        while true {
            if received.count >= 4 {
                let byteCount = received[..<4].reduce(0) { $0 << 8 | Int($1) }
                if received.count >= 4 + byteCount {
                    let body = Array(received[4..<4 + byteCount])
                    received.removeFirst(4 + byteCount)
                    return try Response(decoding: body.span, in: arena)
                }
            }
            let bytes = try receive()
            guard !bytes.isEmpty else {
                guard received.isEmpty else { throw ClientFailure.partialFrame(received.count) }
                return nil
            }
            received += bytes
        }
    }

    /// What comes next as it is; empty at the end of the stream or after a reset.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { throw ClientFailure.timedOut }
        return Array(buffer.prefix(max(0, count)))
    }

    func ask(_ request: Request) throws -> Response {
        try send(request)
        return try #require(try next())
    }
}
