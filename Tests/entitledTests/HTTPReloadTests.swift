import HTTP
import OpenSSL
import TestSupport
import Testing

@testable import entitled

@Suite struct HTTPReloadTests {
    /// Files that a test changes.
    private final class Files {
        var content: [String: [UInt8]] = [:]
    }

    @Test func `a pair half written changes nothing, the whole pair is shown`() throws {
        try withTemporaryDirectory { directory in
            let fixture = try ServingFixture(directory: directory, isWarm: true)
            defer { fixture.end() }
            let (first, second) = (try TLSAuthority(), try TLSAuthority())
            let (old, new) = (try first.server(), try second.server())
            let store = Files()
            store.content = ["/c": old.certificateChain, "/k": old.privateKey]
            let read: NamedFile.Reading = { (path, _) throws(FileReadError) in
                guard let bytes = store.content[path] else { throw FileReadError.notFound }
                return bytes
            }
            let flags = ["--http", "127.0.0.1:0", "--http-tls-cert", "/c", "--http-tls-key", "/k"]
            let settings = try #require(
                try ConfigurationLoader(inputs(leastArguments + flags)).configuration().http)
            let files = try #require(settings.tls)
            let identity = try files.load(by: read)
            let door = try HTTPDoor(settings, identity: identity, fixture.parts)
            defer { door.stop(isAtOnce: false) }
            let reload = HTTPReload(files, showing: identity, door: door, readFile: read)
            #expect(reload.paths == ["/c", "/k"])
            func shows(_ authority: TLSAuthority) throws -> Bool {
                let client = try HTTPClient(
                    options: .init(userAgent: "test", extraRoots: authority.pem))
                let request = HTTPRequest(target: "https://\(door.address)/livez")
                return (try? client.send(request))?.status == 200
            }
            #expect(try shows(first) && !shows(second))
            store.content["/c"] = new.certificateChain
            #expect(throws: ConfigurationFailure.self) { try reload.run() }
            store.content["/k"] = nil
            #expect(throws: ConfigurationFailure.self) { try reload.run() }
            #expect(try shows(first) && !shows(second))
            store.content["/k"] = new.privateKey
            try reload.run()
            #expect(try shows(second) && !shows(first))
            // The same again is no change, and other names of the files are noted.
            try reload.show(
                try files.load(by: read), of: .init(certificatePath: "/c2", keyPath: "/k2"))
            #expect(reload.paths == ["/c2", "/k2"])
            #expect(try shows(second))
        }
    }
}
