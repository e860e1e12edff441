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

    private func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }

    /// Whether whoever shows this identity gets through a handshake.
    private func admits(
        _ identity: TLSContext.Identity?, _ context: TLSContext, _ authority: TLSAuthority
    ) throws -> Bool {
        let (near, far) = (TLSBuffers(), TLSBuffers())
        let client = try TLSChannel(
            connecting: try TLSContext(client: authority.pem, identity: identity), buffers: near,
            host: "localhost")
        let server = try TLSChannel(accepting: context, buffers: far)
        while near.hasOutput || far.hasOutput {
            let said = copy(near.output)
            near.removeOutput()
            server.receive(said.span) { _ in }
            let answered = copy(far.output)
            far.removeOutput()
            client.receive(answered.span) { _ in }
        }
        return server.state == .open
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
        // Who may come in is what it was.
        #expect(try admits(authority.identity("backend.example"), door.context, authority))
        #expect(try !admits(nil, door.context, authority))
        files.content["/ca"] = nil
        let good = door.context
        #expect(throws: ConfigurationFailure.self) { try reload.run() }
        #expect(door.context === good)
    }
}
