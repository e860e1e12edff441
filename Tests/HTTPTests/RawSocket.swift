import Glibc

/// A socket without a client library on it: bytes as a hostile or clumsy peer would send them.
/// Blocking, with a limit of 20 s for each read.
final class RawSocket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let descriptor: Int32

    /// Connects to 127.0.0.1.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw Failure(description: "connect: errno \(code)")
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends all of it.
    ///
    /// - Returns: false when the peer has closed.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends all of it.
    ///
    /// - Returns: false when the peer has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends the sending half.
    func shutdownWrites() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// What comes next; nil at the end, also when it is a reset.
    ///
    /// - Throws: when nothing comes for 20 s.
    func receive() throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        if count > 0 { return Array(buffer.prefix(count)) }
        if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
            throw Failure(description: "nothing came and the peer did not close")
        }
        return nil
    }

    /// All that comes until the peer closes.
    func receiveAll() throws -> String {
        var bytes: [UInt8] = []
        while let next = try receive() { bytes += next }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What comes until `end` stands in it `count` times, or the peer closes.
    func receive(until end: String, count: Int = 1) throws -> String {
        var text = ""
        while text.ranges(of: end).count < count, let next = try receive() {
            text += String(decoding: next, as: UTF8.self)
        }
        return text
    }
}
