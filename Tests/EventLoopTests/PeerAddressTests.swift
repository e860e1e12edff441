import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct PeerAddressTests {
    /// Takes a connection and keeps what was seen of its peer.
    private final class Witness: StreamHandler {
        var stream: StreamConnection?
        func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {}
        func streamDidReachEnd(_ stream: StreamConnection) {}
        func stream(_ stream: StreamConnection, didFail error: UVError) {}
        func streamDidWrite(_ stream: StreamConnection) {}
        func streamDidClose(_ stream: StreamConnection) {}
    }

    /// Where a connection to `text` seems to come from.
    private func peer(at text: String) throws -> PeerAddress? {
        let loop = try Loop()
        defer { loop.close() }
        let socket = try ListeningSocket.bind(try SocketAddress(text), count: 1)[0]
        var found: PeerAddress?
        let listener = try Listener(loop: loop, socket: socket) { listener, result in
            if case .success(let stream) = result {
                found = stream.peerAddress
                stream.close()
            }
            listener.close()
            loop.stop()
        }
        let witness = Witness()
        let client = try StreamConnection.connect(
            to: listener.address, loop: loop, handler: witness)
        loop.run()
        client.close()
        return found
    }

    @Test func `an IPv4 peer is known by its address`() throws {
        let peer = try #require(try peer(at: "127.0.0.1:0"))
        #expect(peer.text == "127.0.0.1" && peer.isLoopback)
    }

    @Test func `an IPv6 peer of this machine is no IPv4 peer`() throws {
        let address: PeerAddress?
        do {
            address = try peer(at: "[::1]:0")
        } catch let error as UVError
            where error.code == -EADDRNOTAVAIL || error.code == -EAFNOSUPPORT
        {
            // A machine without IPv6.
            return
        }
        let six = try #require(address)
        let four = try #require(try peer(at: "127.0.0.1:0"))
        #expect(six.text == "::1" && six.isLoopback)
        #expect(six.network != four.network)
    }

    @Test func `a peer at a Unix socket has no address`() throws {
        let path = "/tmp/peer-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        defer { unsafe unlink(path) }
        #expect(try peer(at: "unix:\(path)") == nil)
    }
}
