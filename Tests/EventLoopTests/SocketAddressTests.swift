import Testing

@testable import EventLoop

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1:7420", SocketAddress.ipv4(host: "127.0.0.1", port: 7420)),
        ("0.0.0.0:0", .ipv4(host: "0.0.0.0", port: 0)),
        ("255.255.255.255:65535", .ipv4(host: "255.255.255.255", port: 65_535)),
        ("[::1]:7420", .ipv6(host: "::1", port: 7420)),
        ("[::ffff:127.0.0.1]:1", .ipv6(host: "::ffff:127.0.0.1", port: 1)),
        ("unix:/run/entitled/rpc.sock", .unix(path: "/run/entitled/rpc.sock")),
        ("unix:a:1", .unix(path: "a:1")),
    ])
    func `an address is read and written back as it was`(
        text: String, expected: SocketAddress
    ) throws {
        #expect(try SocketAddress(text) == expected)
        #expect(expected.description == text)
    }

    @Test func `localhost is the loopback address`() throws {
        #expect(try SocketAddress("localhost:9") == .ipv4(host: "127.0.0.1", port: 9))
    }

    @Test(arguments: [
        ("", AddressError.noPort("")), ("127.0.0.1", .noPort("127.0.0.1")),
        ("127.0.0.1:", .badPort("127.0.0.1:")), ("127.0.0.1:65536", .badPort("127.0.0.1:65536")),
        ("127.0.0.1:-1", .badPort("127.0.0.1:-1")), ("127.0.0.1:+1", .badPort("127.0.0.1:+1")),
        ("127.0.0.1: 1", .badPort("127.0.0.1: 1")), ("127.0.0.1:٣", .badPort("127.0.0.1:٣")),
        (":1", .notLiteral(":1")), ("example.com:1", .notLiteral("example.com:1")),
        ("256.0.0.1:1", .notLiteral("256.0.0.1:1")), ("::1:1", .notLiteral("::1:1")),
        ("[::1:1", .notLiteral("[::1:1")), ("[127.0.0.1]:1", .notLiteral("[127.0.0.1]:1")),
        ("unix:", .noPath("unix:")), ("unix:a\0b", .noPath("unix:a\0b")),
    ])
    func `what is no address is refused with its reason`(text: String, reason: AddressError) {
        #expect(throws: reason) { try SocketAddress(text) }
        #expect(reason.description.contains(text))
    }

    @Test func `a path of 103 bytes is the longest`() throws {
        let path = String(repeating: "p", count: 103)
        #expect(try SocketAddress("unix:" + path) == .unix(path: path))
        #expect(throws: AddressError.pathTooLong("unix:" + path + "p", limit: 103)) {
            try SocketAddress("unix:" + path + "p")
        }
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.1:1", true), ("[::1]:1", true),
        ("[::ffff:127.0.0.1]:1", true), ("unix:/s", true), ("0.0.0.0:1", false),
        ("[::]:1", false), ("10.0.0.1:1", false), ("128.0.0.1:1", false),
        ("[::ffff:10.0.0.1]:1", false), ("[::2]:1", false),
    ])
    func `only loopback and Unix sockets are local`(text: String, isLocal: Bool) throws {
        #expect(try SocketAddress(text).isLocal == isLocal)
    }
}
