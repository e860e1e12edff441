internal import OpenSSL

/// TLS of the protocol's TCP listeners as configured.
struct TLSSettings: Equatable, Sendable {
    /// PEM files.
    var certificatePath: String
    var keyPath: String
    /// `nil`: clients show no certificate.
    var clientAuthorityPath: String?
    var minimumVersion: TLSContext.Version

    /// Nil where the listeners speak plain text.
    init?(_ reader: SettingReader) {
        guard let certificate = reader.texts(.tlsCert).first, let key = reader.texts(.tlsKey).first
        else { return nil }
        certificatePath = certificate
        keyPath = key
        clientAuthorityPath = reader.texts(.tlsClientCa).first
        minimumVersion = TLSContext.Version(rawValue: reader.text(.tlsMinVersion)) ?? .tls12
    }

    /// What does not go together.
    static func problems(_ reader: SettingReader) -> [ConfigurationProblem] {
        let certificates = reader.texts(.tlsCert).count
        guard certificates == reader.texts(.tlsKey).count else {
            return [
                ConfigurationProblem(
                    "`tls.cert` and `tls.key` belong together: set both or none")
            ]
        }
        guard certificates == 0, !reader.texts(.tlsClientCa).isEmpty else { return [] }
        return [
            ConfigurationProblem(
                "`tls.clientCa` asks clients for certificates, and without TLS they have no way to "
                    + "show them: set `tls.cert` and `tls.key`")
        ]
    }

    /// Reads the files, and makes of them what connections begin with.
    ///
    /// - Throws: why it cannot be used; never what is in a file.
    func load(by readFile: NamedFile.Reading) throws(ConfigurationFailure) -> TLSContext {
        let identity = TLSContext.Identity(
            certificateChain: try NamedFile.pem(
                "the certificate of TLS", at: certificatePath, by: readFile),
            privateKey: try NamedFile.pem("the key of TLS", at: keyPath, by: readFile))
        let authorities = try clientAuthorityPath.map { (path) throws(ConfigurationFailure) in
            try NamedFile.pem("the authorities of clients", at: path, by: readFile)
        }
        do throws(OpenSSLError) {
            return try TLSContext(
                server: identity, clientAuthorities: authorities, minimumVersion: minimumVersion)
        } catch {
            throw ConfigurationFailure(problems: [
                ConfigurationProblem(
                    "TLS with `\(certificatePath)` and `\(keyPath)`: \(error.description)")
            ])
        }
    }
}
