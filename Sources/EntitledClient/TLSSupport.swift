internal import EventLoop
internal import OpenSSL

/// What the TLS connections of one client share. On the client's thread once it runs.
final class TLSSupport {
    let context: TLSContext
    let buffers = TLSBuffers()
    /// What the server's certificate must carry.
    let host: String
    /// Of the connection before: a part of the next handshake can be spared.
    var session: TLSSession?

    init(context: TLSContext, host: String) {
        self.context = context
        self.host = host
    }

    /// Reads what a configuration says.
    ///
    /// - Returns: nil for plain text.
    /// - Throws: `ClientError.invalidCredentials`.
    static func context(
        _ tls: ClientTLS?, for address: SocketAddress
    ) throws(ClientError) -> (context: TLSContext, host: String)? {
        guard let tls else { return nil }
        guard let host = tls.serverName ?? address.hostText else {
            throw .invalidAddress("a Unix socket (\(address)) speaks no TLS")
        }
        do throws(OpenSSLError) {
            return (
                try TLSContext(client: tls.trustedCertificates, identity: try identity(tls)), host
            )
        } catch {
            throw .invalidCredentials("\(error)")
        }
    }

    private static func identity(_ tls: ClientTLS) throws(OpenSSLError) -> TLSContext.Identity? {
        if tls.certificateChain == nil, tls.privateKey == nil { return nil }
        guard let chain = tls.certificateChain, let key = tls.privateKey else {
            throw OpenSSLError(
                attempt: "use a client certificate",
                reasons: ["a certificate and its key belong together"])
        }
        return TLSContext.Identity(certificateChain: chain, privateKey: key)
    }
}

extension SocketAddress {
    /// The IP address as text; nil for a Unix socket.
    fileprivate var hostText: String? {
        switch self {
        case .ipv4(let host, _), .ipv6(let host, _): host
        case .unix: nil
        }
    }
}
