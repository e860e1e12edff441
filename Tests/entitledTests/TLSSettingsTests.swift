import OpenSSL
import TestSupport
import Testing

@testable import entitled

@Suite struct TLSSettingsTests {
    private func configuration(_ arguments: [String]) throws -> Configuration {
        try ConfigurationLoader(inputs(leastArguments + arguments)).configuration()
    }

    private func problems(_ arguments: [String]) throws -> [String] {
        try #require(throws: ConfigurationFailure.self) { try configuration(arguments) }
            .problems.map(\.message)
    }

    private let pair = ["--tls-cert", "/c", "--tls-key", "/k"]

    @Test func `plain text is spoken unless a certificate is named`() throws {
        #expect(try configuration([]).tls == nil)
        let tls = try #require(try configuration(pair).tls)
        #expect(tls.certificatePath == "/c" && tls.keyPath == "/k")
        #expect(tls.clientAuthorityPath == nil && tls.minimumVersion == .tls12)
    }

    @Test func `clients are asked for certificates, and old versions refused, where that is said`()
        throws
    {
        let flags = pair + ["--tls-client-ca", "/ca", "--tls-min-version", "1.3"]
        let tls = try #require(try configuration(flags).tls)
        #expect(tls.clientAuthorityPath == "/ca" && tls.minimumVersion == .tls13)
    }

    @Test(arguments: [["--tls-cert", "/c"], ["--tls-key", "/k"]])
    func `a certificate and its key go together`(half: [String]) throws {
        #expect(
            try problems(half) == ["`tls.cert` and `tls.key` belong together: set both or none"])
    }

    @Test func `clients cannot show certificates without TLS`() throws {
        let found = try problems(["--tls-client-ca", "/ca"])
        #expect(found.count == 1 && found[0].contains("`tls.clientCa`"))
    }

    @Test(arguments: ["1.1", "1", "TLS1.3", "2"])
    func `another version is refused`(version: String) throws {
        #expect(try problems(pair + ["--tls-min-version", version]).count == 1)
    }

    @Test(arguments: ["0.0.0.0:7420", "[::]:7420", "192.0.2.1:1"])
    func `other machines are served with TLS, or when plain text is asked for`(
        address: String
    ) throws {
        let found = try problems(["--listen", address])
        #expect(found.count == 1 && found[0].contains("--insecure"))
        #expect(try configuration(["--listen", address] + pair).tls != nil)
        #expect(try configuration(["--listen", address, "--insecure"]).tls == nil)
    }

    @Test func `the files are read, and what is wrong with them is told without their content`()
        throws
    {
        let authority = try TLSAuthority()
        let identity = try authority.server()
        let other = try authority.server()
        let settings = try #require(
            try configuration(pair + ["--tls-client-ca", "/ca"]).tls)
        func load(_ files: [String: [UInt8]]) throws -> TLSContext {
            try settings.load { (path, _) throws(FileReadError) in
                guard let bytes = files[path] else { throw FileReadError.notFound }
                return bytes
            }
        }
        let good = [
            "/c": identity.certificateChain, "/k": identity.privateKey, "/ca": authority.pem,
        ]
        #expect(
            try load(good).notAfterMilliseconds == TLSAuthority.validity.notAfterMilliseconds)
        let changes: [(String, [UInt8]?)] = [
            ("/c", nil), ("/k", nil), ("/ca", nil), ("/k", other.privateKey), ("/ca", []),
            ("/c", Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)),
            ("/ca", identity.privateKey),
        ]
        for (path, content) in changes {
            var files = good
            files[path] = content
            let failure = #expect(throws: ConfigurationFailure.self) { try load(files) }
            let words = failure?.problems.map(\.message).joined() ?? ""
            // What the library finds out is told with the names of the pair.
            let isReadable = content?.isEmpty == false
            #expect(words.contains("`\(path == "/ca" && isReadable ? "/c" : path)`"))
            #expect(!words.contains("BEGIN"))
        }
    }
}
