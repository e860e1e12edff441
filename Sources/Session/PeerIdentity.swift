/// Who is at the other end of a connection, as far as the transport can tell.
///
/// What a request itself carries (its API key) comes on top of it.
package struct PeerIdentity: Hashable, Sendable {
    /// Where the connection came from: an IP address without its port, or empty for a Unix socket.
    package var address: String
    /// Names in the client's certificate, verified against `tls.clientCa`: DNS names, URIs and
    /// e-mail addresses of its subjectAltName (RFC 5280 4.2.1.6) with the prefix `dns:`, `uri:` or
    /// `email:`, and its common name with `cn:`. Empty: the client showed no certificate.
    package var certificateNames: [String]

    /// A peer at `address` that showed a certificate with these names.
    package init(address: String = "", certificateNames: [String] = []) {
        self.address = address
        self.certificateNames = certificateNames
    }
}
