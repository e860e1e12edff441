import EventLoop
import Testing

@testable import entitled

@Suite struct HTTPSettingsTests {
    private func http(_ arguments: [String]) throws -> HTTPSettings? {
        try ConfigurationLoader(inputs(leastArguments + arguments)).configuration().http
    }

    private func problems(_ arguments: [String]) throws -> [String] {
        try #require(throws: ConfigurationFailure.self) { try http(arguments) }
            .problems.map(\.message)
    }

    @Test func `there is no HTTP listener unless it is asked for`() throws {
        #expect(try http([]) == nil)
        #expect(try http(["--http="]) == nil)
    }

    @Test func `an address is all it takes`() throws {
        let http = try #require(try http(["--http", "127.0.0.1:0"]))
        #expect(http.address.description == "127.0.0.1:0")
        #expect(http.tls == nil)
        #expect(http.bodyByteCountMax == 4 << 20)
        #expect(http.connectionCountMax == 1_024)
    }

    @Test func `bounds are taken as said`() throws {
        let http = try #require(
            try http([
                "--http", "[::1]:9420", "--limits-max-http-body", "64KiB",
                "--limits-max-http-connections", "1",
            ]))
        #expect(http.bodyByteCountMax == 64 << 10 && http.connectionCountMax == 1)
    }

    @Test(arguments: [
        ["--limits-max-http-body", "65535"], ["--limits-max-http-body", "65MiB"],
        ["--limits-max-http-connections", "0"], ["--http", "9420"], ["--http", "host:1"],
    ])
    func `values out of bounds are refused`(arguments: [String]) throws {
        #expect(try problems(arguments).count == 1)
    }

    @Test(arguments: ["0.0.0.0:9420", "[::]:9420", "192.0.2.1:1"])
    func `plain text for other machines needs to be asked for`(address: String) throws {
        let found = try problems(["--http", address])
        #expect(found.count == 1 && found[0].contains("--insecure"))
        #expect(try http(["--http", address, "--insecure"])?.tls == nil)
        let tls = try http([
            "--http", address, "--http-tls-cert", "/c", "--http-tls-key", "/k",
        ])?.tls
        #expect(tls == HTTPSettings.TLSFiles(certificatePath: "/c", keyPath: "/k"))
    }

    @Test(arguments: [["--http-tls-cert", "/c"], ["--http-tls-key", "/k"]])
    func `a certificate and its key go together`(half: [String]) throws {
        let found = try problems(["--http", "127.0.0.1:0"] + half)
        #expect(found == ["`httpTls.cert` and `httpTls.key` belong together: set both or none"])
        #expect(try problems(half)[0].contains("no HTTP listener"))
    }

    @Test func `a Unix socket is no place for HTTP`() throws {
        #expect(try problems(["--http", "unix:/s"])[0].contains("host:port"))
    }
}
