/// How a client speaks TLS: whom it takes for the server, and who it is itself.
///
/// The server's certificate is always verified, its name included; there is no way to switch that
/// off. Contents are PEM, as they stand in files.
public struct ClientTLS: Hashable, Sendable {
    /// Certificates of the authorities that may have issued the server's; nil = the system's.
    public var trustedCertificates: [UInt8]?
    /// The client's certificate with its chain, for a server that asks for one; nil = none.
    public var certificateChain: [UInt8]?
    /// The unencrypted key of that certificate.
    public var privateKey: [UInt8]?
    /// The DNS name or IP address that the server's certificate must carry; nil = the address that
    /// is connected to.
    public var serverName: String?

    /// TLS with the system's authorities and without a client certificate.
    public init() {}
}
