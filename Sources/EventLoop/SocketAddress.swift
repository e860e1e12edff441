internal import CLibuv

/// Where to listen or connect: a literal IP address with a port, or a Unix socket's path.
///
/// No name is resolved, except that `localhost` is 127.0.0.1: a resolver can stall for seconds.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 literal such as "127.0.0.1"; port 0 lets the system choose when listening.
    case ipv4(host: String, port: UInt16)
    /// An IPv6 literal without brackets such as "::1".
    case ipv6(host: String, port: UInt16)
    /// The path of a Unix socket.
    case unix(path: String)

    /// The longest path that every supported system takes: `sun_path` has 108 bytes with its NUL on
    /// Linux and 104 on macOS.
    package static let pathByteCountMax = 103

    /// Reads `host:port`, `[v6]:port`, `localhost:port` or `unix:PATH`.
    ///
    /// - Throws: `AddressError` that says what is wrong with `text`.
    package init(_ text: String) throws(AddressError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty, !path.utf8.contains(0) else { throw .noPath(text) }
            guard path.utf8.count <= Self.pathByteCountMax else {
                throw .pathTooLong(text, limit: Self.pathByteCountMax)
            }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { throw .noPort(text) }
        let portText = text[text.index(after: colon)...]
        guard !portText.isEmpty, portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(portText)
        else { throw .badPort(text) }
        try self.init(host: text[..<colon], port: port, text: text)
    }

    private init(host: Substring, port: UInt16, text: String) throws(AddressError) {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let literal = String(host.dropFirst().dropLast())
            var address = sockaddr_in6()
            guard unsafe uv_ip6_addr(literal, 0, &address) == 0 else { throw .notLiteral(text) }
            self = .ipv6(host: literal, port: port)
            return
        }
        let literal = host == "localhost" ? "127.0.0.1" : String(host)
        var address = sockaddr_in()
        guard unsafe uv_ip4_addr(literal, 0, &address) == 0 else { throw .notLiteral(text) }
        self = .ipv4(host: literal, port: port)
    }

    /// The same text that `init` reads.
    package var description: String {
        switch self {
        case .ipv4(let host, let port): "\(host):\(port)"
        case .ipv6(let host, let port): "[\(host)]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Only processes of this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .ipv4(let host, _): host.hasPrefix("127.")
        case .ipv6(let host, _): Self.isLoopback(ipv6: host)
        }
    }

    private static func isLoopback(ipv6 host: String) -> Bool {
        var address = sockaddr_in6()
        guard unsafe uv_ip6_addr(host, 0, &address) == 0 else { return false }
        return unsafe withUnsafeBytes(of: address.sin6_addr) { bytes in
            let isOne = unsafe bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
            let isMapped =
                unsafe bytes[..<10].allSatisfy { $0 == 0 }
                && bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[12] == 127
            return isOne || isMapped
        }
    }

    /// The same host with another port; a Unix socket has none and stays as it is.
    func withPort(_ port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let host, _): .ipv4(host: host, port: port)
        case .ipv6(let host, _): .ipv6(host: host, port: port)
        case .unix: self
        }
    }
}

/// Why a text is no address.
package enum AddressError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is no ":" in it.
    case noPort(String)
    /// What follows the last ":" is no number from 0 to 65535.
    case badPort(String)
    /// The host is a name, or nothing.
    case notLiteral(String)
    /// `unix:` without a path, or with a NUL in it.
    case noPath(String)
    /// The kernel would cut the path.
    case pathTooLong(String, limit: Int)

    /// For people: what was given and what is expected.
    package var description: String {
        switch self {
        case .noPort(let text):
            "\"\(text)\" has no port; write host:port, [v6]:port or unix:PATH"
        case .badPort(let text): "\"\(text)\" has no port from 0 to 65535"
        case .notLiteral(let text):
            "\"\(text)\" is no literal address; write e.g. 127.0.0.1:7420 or [::1]:7420"
        case .noPath(let text): "\"\(text)\" names no path"
        case .pathTooLong(let text, let limit):
            "\"\(text)\" is longer than the \(limit) bytes that a socket path may have"
        }
    }
}
