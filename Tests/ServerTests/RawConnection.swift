import Glibc
import Wire

/// A socket without a client library on it: bytes as a hostile or clumsy peer would send them.
final class RawConnection: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32

    /// Connects to `127.0.0.1:PORT`.
    init(to address: String) throws {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure(description: "no port in \(address)")
        }
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
            close(descriptor)
            throw Failure(description: "connect \(address): errno \(errno)")
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Sends what the peer takes at once; -1 when it is gone.
    private func sendOnce(_ bytes: ArraySlice<UInt8>) -> Int {
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(
                descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return 0 }
        return count
    }

    /// Sends all of it; stops in silence when the peer has closed.
    func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        _ = try await eventually("the peer takes \(bytes.count) bytes") { () -> Bool? in
            while !rest.isEmpty {
                let count = self.sendOnce(rest)
                if count < 0 { return true }
                if count == 0 { return nil }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Sends again and again until the peer takes no more for `patience`.
    ///
    /// - Returns: How many bytes it took.
    func flood(_ bytes: [UInt8], limit: Int, patience: Duration) async throws -> Int {
        let clock = ContinuousClock()
        var (total, offset, last) = (0, 0, clock.now)
        while total < limit, clock.now - last < patience {
            let count = sendOnce(bytes[offset...])
            if count < 0 { break }
            if count == 0 {
                try await Task.sleep(for: .milliseconds(2))
                continue
            }
            total += count
            offset = (offset + count) % bytes.count
            last = clock.now
        }
        return total
    }

    /// Ends the sending half.
    func shutdownWrites() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RD))
    }

    /// What has come; empty = nothing yet, nil = the peer has closed.
    private func receiveOnce() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        if count > 0 { return Array(buffer.prefix(count)) }
        if count < 0, errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return [] }
        return nil
    }

    /// All answers until the peer closes.
    func answersUntilClose() async throws -> [Response] {
        var bytes: [UInt8] = []
        _ = try await eventually("the peer closes; \(bytes.count) bytes came") { () -> Bool? in
            while let next = self.receiveOnce() {
                if next.isEmpty { return nil }
                bytes += next
            }
            return true
        }
        return try Self.responses(in: bytes)
    }

    /// The next `count` answers.
    ///
    /// - Throws: `Failure` where the peer closes before they have come.
    func answers(_ count: Int) async throws -> [Response] {
        var bytes: [UInt8] = []
        return try await eventually("\(count) answers come; \(bytes.count) bytes came") {
            () -> [Response]? in
            var next = self.receiveOnce()
            while let piece = next, !piece.isEmpty {
                bytes += piece
                next = self.receiveOnce()
            }
            let responses = try Self.responses(in: bytes)
            if responses.count >= count { return responses }
            guard next == nil else { return nil }
            throw Failure(description: "closed after \(responses.count) of \(count) answers")
        }
    }

    /// Whether nothing has come so far.
    var isSilent: Bool { receiveOnce()?.isEmpty == true }

    private static func responses(in bytes: [UInt8]) throws -> [Response] {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        let arena = MessageArena(byteCountMax: 32 << 20)
        var responses: [Response] = []
        var position = 0
        let span = bytes.span
        while let body = try decoder.next(in: span, from: &position) {
            responses.append(
                try Response(decoding: decoder.bytes(of: body, in: span), in: arena))
        }
        return responses
    }

    /// `body` behind its length.
    static func frame(_ body: [UInt8]) -> [UInt8] {
        let count = UInt32(body.count)
        return [
            UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ] + body
    }

    /// A request as one frame.
    static func frame(_ request: Request) throws -> [UInt8] {
        var output = OutputBuffer()
        try request.encodeFrame(
            into: &output, in: MessageArena(), frameByteCountMax: 1 << 24)
        return Text(copying: output.bytes).bytes
    }
}
