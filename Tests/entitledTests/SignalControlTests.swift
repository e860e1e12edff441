import FoundationEssentials
import Glibc
import Testing

@testable import entitled

extension DaemonTests {
    /// A CheckAccess that waits for revision 1,000 for a minute: a request that stays in flight.
    private static let waiting: [UInt8] = [
        0, 0, 0, 0x13, 0x08, 0x01, 0x10, 0xE0, 0xD4, 0x03, 0x52, 0x0B, 0x0A, 0x03, 0x0A, 0x01,
        0x61, 0x12, 0x01, 0x70, 0x28, 0xE8, 0x07,
    ]

    @Test func `a stop waits for what is in flight, no longer than the grace`() throws {
        try withTemporaryDirectory { directory in
            let socket = directory + "/s"
            let process = try serve(
                try arguments(
                    directory, ["--listen", "unix:\(socket)", "--shutdown-grace", "300ms"]),
                in: directory)
            let client = try StreamClient(path: socket)
            #expect(client.send(Self.waiting))
            process.wait { client.hasSettled }
            process.send(SIGTERM)
            #expect(process.wait() == 0)
            #expect(process.errors.contains("\"msg\":\"stopped\""))
        }
    }

    @Test func `a second signal stops at once and says so`() throws {
        try withTemporaryDirectory { directory in
            let socket = directory + "/s"
            let process = try serve(
                try arguments(
                    directory, ["--listen", "unix:\(socket)", "--shutdown-grace", "10m"]),
                in: directory)
            let client = try StreamClient(path: socket)
            #expect(client.send(Self.waiting))
            process.wait { client.hasSettled }
            process.send(SIGTERM)
            process.wait { process.errors.contains("draining") }
            process.send(SIGTERM)
            #expect(process.wait() == 1)
            #expect(process.errors.contains("stopping at once"))
        }
    }
}

/// A connection to a Unix socket that sends and does not read.
private final class StreamClient {
    private let descriptor: Int32
    private var pollCount = 0

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = unsafe withSocketAddress(path) { address, length in
            unsafe connect(descriptor, address, length)
        }
        guard result == 0 else { throw ChildProcessError.notStarted(errno) }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0) == $0.count
        }
    }

    /// True after a tenth of a second: the server has read what was sent.
    var hasSettled: Bool {
        pollCount += 1
        return pollCount > 10
    }
}
