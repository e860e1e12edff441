import FoundationEssentials
import Testing

@testable import EventLoop

@Suite struct ListeningSocketTests {
    let loopback = SocketAddress.ipv4(host: "127.0.0.1", port: 0)

    /// Calls `body` with a path in a directory of its own, which is removed afterwards.
    func withSocketPath(_ body: (String) throws -> Void) throws {
        let directory = "/tmp/entitled-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/rpc.sock")
    }

    @Test func `port 0 becomes a port of the system's choice`() throws {
        let sockets = try ListeningSocket.bind(loopback, count: 1)
        #expect(sockets.count == 1)
        guard case .ipv4("127.0.0.1", let port) = sockets[0].address else {
            Issue.record("\(sockets[0].address)")
            return
        }
        #expect(port != 0)
        sockets[0].close()
    }

    @Test func `the sockets of several loops share one port`() throws {
        let sockets = try ListeningSocket.bind(loopback, count: 4)
        #expect(Set(sockets.map(\.address)).count == 1)
        for socket in sockets { socket.close() }
    }

    @Test(arguments: [1, 3])
    func `a port that a server listens on is refused to a second, also when it is shared`(
        count: Int
    ) throws {
        let sockets = try ListeningSocket.bind(loopback, count: count)
        let loop = try Loop()
        defer { loop.close() }
        for socket in sockets { _ = try Listener(loop: loop, socket: socket) { _, _ in } }
        let address = sockets[0].address
        for second in [1, 3] {
            let error = #expect(throws: UVError.self) {
                try ListeningSocket.bind(address, count: second)
            }
            #expect(error?.isAddressInUse == true)
            #expect(error?.description.contains(address.description) == true)
        }
    }

    @Test func `a port is free again once it is closed`() throws {
        let first = try ListeningSocket.bind(loopback, count: 2)
        for socket in first { socket.close() }
        let second = try ListeningSocket.bind(first[0].address, count: 2)
        #expect(second[0].address == first[0].address)
    }

    @Test func `an address of another machine is refused`() throws {
        #expect(throws: UVError.self) {
            try ListeningSocket.bind(.ipv4(host: "192.0.2.1", port: 0), count: 1)
        }
    }

    @Test func `a Unix socket appears and disappears with its owner`() throws {
        try withSocketPath { path in
            let sockets = try ListeningSocket.bind(.unix(path: path), count: 3)
            #expect(FileManager.default.fileExists(atPath: path))
            sockets[1].close()
            sockets[2].close()
            #expect(FileManager.default.fileExists(atPath: path))
            sockets[0].close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a path on which somebody listens is refused`() throws {
        try withSocketPath { path in
            let first = try ListeningSocket.bind(.unix(path: path), count: 1)
            let error = #expect(throws: UVError.self) {
                try ListeningSocket.bind(.unix(path: path), count: 1)
            }
            #expect(error?.isAddressInUse == true)
            #expect(FileManager.default.fileExists(atPath: path))
            first[0].close()
        }
    }

    @Test func `a socket that a dead server left behind is replaced`() throws {
        try withSocketPath { path in
            let dead = try ListeningSocket.bind(.unix(path: path), count: 1)
            // As after SIGKILL: the descriptor is gone, the file is not.
            let loop = try Loop()
            let listener = try Listener(loop: loop, socket: dead[0]) { _, _ in }
            listener.close()
            loop.close()
            #expect(FileManager.default.fileExists(atPath: path))
            let next = try ListeningSocket.bind(.unix(path: path), count: 1)
            // The late end of the first must not take the second's file.
            dead[0].close()
            #expect(FileManager.default.fileExists(atPath: path))
            next[0].close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a file that is no socket is left alone`() throws {
        try withSocketPath { path in
            try Data([1, 2, 3]).write(to: URL(filePath: path))
            let error = #expect(throws: UVError.self) {
                try ListeningSocket.bind(.unix(path: path), count: 1)
            }
            #expect(error?.name == "ENOTSOCK")
            #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3]))
        }
    }

    @Test func `a directory that is missing and a path that is too long are refused`() throws {
        #expect(throws: UVError.self) {
            try ListeningSocket.bind(.unix(path: "/nonexistent/rpc.sock"), count: 1)
        }
        let long = "/tmp/" + String(repeating: "x", count: 120)
        let error = #expect(throws: UVError.self) {
            try ListeningSocket.bind(.unix(path: long), count: 1)
        }
        #expect(error?.name == "ENAMETOOLONG")
    }
}
