internal import HTTP
internal import OpenSSL

/// A stand-in App Store at an address of this machine.
///
/// ```swift
/// let server = try StandInAppStoreServer(appStore)
/// // apple.api.baseUrl = server.productionURL, sandboxBaseUrl = server.sandboxURL
/// server.stop()
/// ```
package final class StandInAppStoreServer: Sendable {
    /// What is played; tests change it while it is asked.
    package let appStore: StandInAppStore
    /// The root that a client has to trust, PEM; empty for plain text.
    package let rootPEM: [UInt8]
    /// `https://127.0.0.1:PORT`.
    package let productionURL: String
    /// `https://127.0.0.1:PORT/sandbox`.
    package let sandboxURL: String

    private let listener: HTTPListener

    /// Listens on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - appStore: What is played.
    ///   - isPlain: Whether to do without TLS.
    /// - Throws: `OpenSSLError` when no certificate can be made, `HTTPListenerError` when the
    ///   system or the library refuses.
    package init(_ appStore: StandInAppStore, isPlain: Bool = false) throws {
        // Who vouches for the connection is not who signs purchases, as with Apple.
        let authority = isPlain ? nil : try TestCertificateAuthority(name: "Stand-in TLS")
        var options = HTTPListenerOptions(identity: try authority?.serverIdentity())
        // Tests hold answers back; those must not keep others from being answered.
        options.workerCount = 8
        listener = try HTTPListener(options: options) { appStore.respond(to: $0) }
        self.appStore = appStore
        rootPEM = authority?.root.pem ?? []
        productionURL = (isPlain ? "http" : "https") + "://127.0.0.1:\(listener.port)"
        sandboxURL = productionURL + "/sandbox"
    }

    /// Ends in order: what is being answered is answered. Not from a step of a script.
    package func stop() { listener.stop(graceMilliseconds: 2_000) }
}
