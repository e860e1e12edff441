/// A request that got no whole response: what went wrong, with whom, and whether trying again may
/// help.
///
/// A response of any status is no error. The text never carries the path, the query, a field or a
/// body: those may hold a token or the id of a customer.
package struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it was.
    package enum Kind: Hashable, Sendable {
        /// The name of the host, or of the proxy, leads nowhere.
        case resolve
        /// Nobody answers there.
        case connect
        /// A limit of time was reached, connecting or later.
        case timedOut
        /// A certificate that is not trusted, or no TLS that both sides speak.
        case tls
        /// The connection ended before the response did.
        case closed
        /// What came is no HTTP.
        case protocolViolation
        /// The response is longer than allowed.
        case tooLarge
        /// The caller, or the end of the client, stopped it.
        case cancelled
        /// The request cannot be sent as it is: a malformed URL, a line feed in a field.
        case invalidRequest
        /// The library failed by itself: no memory, a feature that is not built in.
        case library
    }

    /// What kind of trouble it was.
    package let kind: Kind
    /// Scheme, host and port; empty where the URL has none.
    package let server: String
    /// What the library says, for people.
    package let detail: String
    /// Whether the certificate was not accepted: no other attempt will do better.
    package let isCertificateRefused: Bool

    /// An error.
    package init(
        kind: Kind, server: String, detail: String, isCertificateRefused: Bool = false
    ) {
        self.kind = kind
        self.server = server
        self.detail = detail
        self.isCertificateRefused = isCertificateRefused
    }

    /// Whether the same request may succeed later without anybody changing anything.
    package var mayRetryHelp: Bool {
        switch kind {
        case .resolve, .connect, .timedOut, .closed: true
        case .tls: !isCertificateRefused
        case .protocolViolation, .tooLarge, .cancelled, .invalidRequest, .library: false
        }
    }

    /// What to do about it, in half a sentence; empty where nothing can be said.
    private var advice: String {
        switch kind {
        case .resolve: "check the name and the resolver"
        case .connect: "check the address, the port and firewalls"
        case .tls: "check the certificate, the trusted roots and this machine's clock"
        case .timedOut, .closed, .protocolViolation, .tooLarge, .cancelled, .invalidRequest,
            .library:
            ""
        }
    }

    /// One line for people.
    package var description: String {
        let what =
            switch kind {
            case .resolve: "the host of \(server) is not found"
            case .connect: "\(server) does not accept a connection"
            case .timedOut: "\(server) did not answer in time"
            case .tls: "no secure connection to \(server)"
            case .closed: "\(server) closed the connection before the response was whole"
            case .protocolViolation: "\(server) does not speak HTTP"
            case .tooLarge: "the response of \(server) is too large"
            case .cancelled: "the request to \(server) was given up"
            case .invalidRequest: "the request cannot be sent"
            case .library: "the HTTP library failed"
            }
        let reason = detail.isEmpty ? what : "\(what): \(detail)"
        return advice.isEmpty ? reason : "\(reason); \(advice)"
    }
}
