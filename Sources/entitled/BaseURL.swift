internal import EventLoop

/// Where a web service begins: scheme, host, perhaps a port and a path; nothing else.
///
/// Paths are appended to it, so a query, a fragment or a slash at the end would end up in their
/// middle. A user's name or password in a URL is a secret in the wrong place.
struct BaseURL: Hashable, Sendable {
    /// As configured, without slashes at the end.
    let text: String
    let isEncrypted: Bool
    /// Without the brackets of an IPv6 address.
    let host: String

    /// Longer ones are a mistake.
    static let byteCountMax = 2_048

    /// Reads `http://host[:port][/path]` or the same with `https`; nil where `text` is none.
    init?(_ text: String) {
        let schemes: [(prefix: String, isEncrypted: Bool)] = [
            ("https://", true), ("http://", false),
        ]
        guard text.utf8.count <= Self.byteCountMax,
            let scheme = schemes.first(where: { text.lowercased().hasPrefix($0.prefix) }),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.refused.contains($0) })
        else { return nil }
        let rest = text.dropFirst(scheme.prefix.count)
        let authority = rest.prefix { $0 != "/" }
        guard let host = Self.host(of: authority) else { return nil }
        var path = rest.dropFirst(authority.count)
        while path.last == "/" { path.removeLast() }
        self.text = "\(scheme.prefix)\(authority)\(path)"
        self.host = host
        isEncrypted = scheme.isEncrypted
    }

    /// `"`, `#`, `<`, `>`, `?`, `@`, `\`, `^`, `` ` ``, `{`, `|`, `}`.
    private static let refused: [UInt8] = [
        0x22, 0x23, 0x3C, 0x3E, 0x3F, 0x40, 0x5C, 0x5E, 0x60, 0x7B, 0x7C, 0x7D,
    ]

    /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`.
    private static func host(of authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            let whole = authority.hasSuffix("]") ? authority + ":443" : authority
            guard case .ipv6(let host, let port)? = try? SocketAddress(String(whole)), port > 0
            else { return nil }
            return host
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, !host.isEmpty, parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard Quantity.isDigits(parts[1]), let port = UInt16(parts[1]), port > 0 else {
                return nil
            }
        }
        return String(host)
    }

    /// Whether only this machine answers: what is sent there cannot be read on the way.
    var isLoopback: Bool {
        if host.contains(":") { return SocketAddress.ipv6(host: host, port: 0).isLocal }
        guard let address = try? SocketAddress("\(host):0") else { return false }
        return address.isLocal
    }
}
