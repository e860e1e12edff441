import OpenSSL
import TestSupport
import Testing
import Transport

@testable import entitled

@Suite struct TLSReloadTests {
    /// Files that a test changes.
    private final class Files {
        var content: [String: [UInt8]] = [:]
    }

    @Test func `a pair half written changes nothing, the whole pair does`() throws {
        let authority = try TLSAuthority()
        let (first, second) = (try authority.server(), try authority.server())
        let files = Files()
        files.content = [
            "/c": first.certificateChain, "/k": first.privateKey, "/ca": authority.pem,
        ]
        let flags = ["--tls-cert", "/c", "--tls-key", "/k", "--tls-client-ca", "/ca"]
        let settings = try #require(
            try ConfigurationLoader(inputs(leastArguments + flags)).configuration().tls)
        let read: NamedFile.Reading = { (path, _) throws(FileReadError) in
            guard let bytes = files.content[path] else { throw FileReadError.notFound }
            return bytes
        }
        let door = TLSDoor(try settings.load(by: read))
        let reload = TLSReload(settings, door: door, readFile: read)
        #expect(reload.paths == ["/c", "/k", "/ca"])
        let before = door.context
        files.content["/c"] = second.certificateChain
        #expect(throws: ConfigurationFailure.self) { try reload.run() }
        #expect(door.context === before)
        files.content["/k"] = second.privateKey
        try reload.run()
        #expect(door.context !== before)
        files.content["/ca"] = nil
        let good = door.context
        #expect(throws: ConfigurationFailure.self) { try reload.run() }
        #expect(door.context === good)
    }
}
