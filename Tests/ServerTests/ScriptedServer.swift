import Glibc
import Synchronization
import Wire

/// A server that answers as a test says, on loopback: for what the tool makes of answers that a
/// real server seldom gives.
final class ScriptedServer: Sendable {
    /// The answer to a request; nil = none, ever.
    typealias Script = @Sendable (Request) -> Response?

    struct Failure: Error {
        let code: Int32
    }

    /// `127.0.0.1:PORT`.
    let address: String
    private let listener: Int32
    private let task: Task<Void, Never>
    private let log: RequestLog

    /// What has been asked.
    private final class RequestLog: Sendable {
        let requests = Mutex<[Request]>([])
    }

    /// The requests that came so far.
    var requests: [Request] { log.requests.withLock { $0 } }

    init(_ script: @escaping Script) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard result else {
            close(listener)
            throw Failure(code: errno)
        }
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        address = "127.0.0.1:\(UInt16(bigEndian: target.sin_port))"
        let log = RequestLog()
        self.log = log
        task = Task {
            var peers: [ScriptedPeer] = []
            while !Task.isCancelled {
                let descriptor = accept(listener, nil, nil)
                if descriptor >= 0 { peers.append(ScriptedPeer(descriptor)) }
                for peer in peers {
                    peer.answerAll { request in
                        log.requests.withLock { $0.append(request) }
                        return script(request)
                    }
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    deinit {
        task.cancel()
        close(listener)
    }

    /// Runs the tool against it.
    func tool(_ arguments: [String], in directory: TemporaryDirectory) async throws -> ToolResult {
        try await ToolResult.run(
            arguments, environment: ["ENTITLECTL_ADDR": address], in: directory)
    }
}

/// One connection of a scripted server.
private final class ScriptedPeer {
    private let descriptor: Int32
    private var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
    private let arena = MessageArena()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    func answerAll(_ script: (Request) -> Response?) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
            }
            guard count > 0 else { return }
            answer(Array(buffer.prefix(count)), script)
        }
    }

    private func answer(_ bytes: [UInt8], _ script: (Request) -> Response?) {
        var position = 0
        do throws(WireError) {
            while let body = try decoder.next(in: bytes.span, from: &position) {
                let request = try Request(
                    decoding: decoder.bytes(of: body, in: bytes.span), in: arena)
                guard let response = script(request) else { continue }
                var output = OutputBuffer()
                try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
                let frame = Text(copying: output.bytes).bytes
                // Answers of tests are small: the kernel takes them whole.
                _ = unsafe frame.withUnsafeBytes { bytes in
                    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            }
        } catch {
            preconditionFailure("the tool sent no frame: \(error)")
        }
        decoder.hold(bytes.span, from: position)
    }
}
