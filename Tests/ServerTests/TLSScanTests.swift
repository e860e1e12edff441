import FoundationEssentials
import TestSupport
import Testing

/// The program that looks at doors as a scanner does.
private enum Scanner {
    static let program = "/usr/bin/openssl"
    static let isThere = FileManager.default.isExecutableFile(atPath: program)
}

/// What a scanner finds on both doors: old versions and ciphers without forward secrecy or
/// authenticated encryption are refused, by RSA certificates too.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .enabled(if: Scanner.isThere, "openssl, the program, is not installed"),
    .timeLimit(.minutes(10)))
struct TLSScanTests {
    /// Flags of `s_client`, and whether a handshake comes about.
    private static let offers: [(flags: [String], isTaken: Bool)] = [
        (["-tls1_3"], true),
        (["-tls1_2"], true),
        (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], false),
        (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], false),
        (["-tls1_2", "-cipher", "ECDHE+AESGCM"], true),
        (["-tls1_2", "-cipher", "ECDHE+CHACHA20"], true),
        (["-tls1_2", "-cipher", "kRSA:@SECLEVEL=0"], false),
        (["-tls1_2", "-cipher", "kDHE:@SECLEVEL=0"], false),
        (["-tls1_2", "-cipher", "ECDHE+SHA1:ECDHE+SHA256:ECDHE+SHA384:@SECLEVEL=0"], false),
        (["-tls1_2", "-cipher", "aNULL:eNULL:@SECLEVEL=0"], false),
    ]

    @Test(arguments: [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]])
    func `old versions and weak ciphers are refused`(key: [String]) async throws {
        let files = try TemporaryDirectory()
        let (certificate, privateKey) = (files.path + "/tls.pem", files.path + "/tls.key")
        let made = try ProgramRun(
            Scanner.program,
            ["req", "-x509", "-newkey"] + key + [
                "-nodes", "-days", "2", "-subj", "/CN=localhost", "-out", certificate, "-keyout",
                privateKey,
            ], in: files)
        #expect(try await made.waitForEnd() == .exit(0), "\(made.errorOutput)")
        let server = try await TestServer.start(
            flags: [
                "--tls-cert", certificate, "--tls-key", privateKey, "--http", "127.0.0.1:0",
                "--http-tls-cert", certificate, "--http-tls-key", privateKey,
            ], keeping: [files])
        let http = try #require(
            server.process.output.split(whereSeparator: \.isWhitespace)
                .first { $0.hasPrefix("http=") }?.dropFirst("http=".count))
        for address in [server.address, String(http)] {
            for offer in Self.offers {
                let run = try ProgramRun(
                    Scanner.program, ["s_client", "-connect", address] + offer.flags, in: files)
                let isTaken = try await run.waitForEnd() == .exit(0)
                #expect(isTaken == offer.isTaken, "\(address) \(offer.flags)")
                // Refused by the server, by an alert or an end, not by the program's own rules.
                let said = run.errorOutput
                if !isTaken {
                    #expect(["alert", "unexpected eof"].contains { said.contains($0) }, "\(said)")
                }
            }
        }
        #expect(try await server.stop() == .exit(0))
    }
}
