@testable import HTTP
import Glibc

/// A server that reads a head and says what it is told to, whatever HTTP has to say about it.
final class RawServer: Sendable {
    private let descriptor: Int32
    let port: UInt16

    var url: String { "http://127.0.0.1:\(port)/" }

    /// Serves one connection on a thread of its own.
    init(answer: String) throws {
        let socket = try BoundSocket(host: "127.0.0.1", port: 0)
        let descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        _ = fcntl(descriptor, F_SETFL, 0)
        _ = startThread {
            let peer = accept(descriptor, nil, nil)
            guard peer >= 0 else { return }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            _ = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(peer, $0.baseAddress, $0.count, 0)
            }
            let bytes = Array(answer.utf8)
            _ = unsafe bytes.withUnsafeBytes {
                unsafe send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            close(peer)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}
