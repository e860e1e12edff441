internal import CLibuv

/// Where a TCP connection came from.
package struct PeerAddress: Hashable, Sendable {
    /// The IP address as text, without a port.
    package let text: String
    /// Whose it is, as far as an address tells: an IPv4 address whole, of an IPv6 address the first
    /// 64 bits, for whoever has one of those has all of them (RFC 6177). Two addresses of one host
    /// are equal here and differ in `text`.
    package let network: Network
    /// Whether it is of this machine.
    package let isLoopback: Bool

    /// See `network`.
    package struct Network: Hashable, Sendable {
        private let high: UInt64
        private let low: UInt64

        fileprivate init(_ bytes: [UInt8]) {
            high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}

extension StreamConnection {
    /// Where it came from; nil for a Unix socket, and for a peer that is gone already.
    package var peerAddress: PeerAddress? {
        guard !isUnix, !isClosing else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var network = [UInt8](repeating: 0, count: 16)
        let result = unsafe cuv_peer(pointer(as: uv_tcp_t.self), &text, &network)
        guard result == 0 else { return nil }
        let characters = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let address = String(decoding: characters, as: UTF8.self)
        let isMapped = network[10] == 0xFF && network[11] == 0xFF
        return PeerAddress(
            text: address, network: PeerAddress.Network(network),
            isLoopback: isMapped ? network[12] == 127 : address == "::1")
    }
}
