internal import EventLoop
internal import HTTP

/// The HTTP listener as configured.
struct HTTPSettings: Equatable, Sendable {
    /// PEM files of a listener that speaks TLS itself.
    struct TLSFiles: Equatable, Sendable {
        var certificatePath: String
        var keyPath: String

        /// Reads the files; whether they belong together shows when the listener takes them.
        ///
        /// - Throws: why they cannot be used; never what is in them.
        func load(by readFile: NamedFile.Reading) throws(ConfigurationFailure) -> HTTPServerIdentity
        {
            HTTPServerIdentity(
                certificateChain: try NamedFile.pem(
                    "the certificate of HTTP", at: certificatePath, by: readFile),
                privateKey: try NamedFile.pem("the key of HTTP", at: keyPath, by: readFile))
        }
    }

    /// Never a Unix socket.
    var address: SocketAddress
    /// `nil`: plain text, behind a proxy or on loopback.
    var tls: TLSFiles?
    var bodyByteCountMax: Int
    var connectionCountMax: Int

    /// Nil where no listener is asked for.
    init?(_ reader: SettingReader) {
        guard let text = reader.texts(.http).first, let address = try? SocketAddress(text) else {
            return nil
        }
        self.address = address
        if let certificate = reader.texts(.httpTlsCert).first,
            let key = reader.texts(.httpTlsKey).first
        {
            tls = TLSFiles(certificatePath: certificate, keyPath: key)
        }
        bodyByteCountMax = Int(reader.integer(.maxHttpBody))
        connectionCountMax = Int(reader.integer(.maxHttpConnections))
    }

    /// What does not go together.
    static func problems(_ reader: SettingReader) -> [ConfigurationProblem] {
        let certificates = reader.texts(.httpTlsCert).count
        let keys = reader.texts(.httpTlsKey).count
        guard let http = HTTPSettings(reader) else {
            guard certificates + keys > 0 else { return [] }
            return [
                ConfigurationProblem(
                    "`httpTls` is set and there is no HTTP listener: say --http, or `http`")
            ]
        }
        var problems: [ConfigurationProblem] = []
        if certificates != keys {
            problems.append(
                ConfigurationProblem(
                    "`httpTls.cert` and `httpTls.key` belong together: set both or none"))
        }
        if !http.address.isLocal, http.tls == nil, !reader.boolean(.insecure) {
            problems.append(
                ConfigurationProblem(
                    "`\(http.address)` can be reached from other machines in plain text: listen "
                        + "on loopback behind a TLS proxy, set `httpTls.cert` and `httpTls.key`, "
                        + "or say --insecure"))
        }
        return problems
    }
}
