import EventLoop
import FoundationEssentials
import HTTP
import RocksDBStorage
import Service
import Testing

@testable import entitled

@Suite struct HTTPDoorTests {
    private let client: HTTPClient

    init() throws {
        client = try HTTPClient(options: HTTPClientOptions(userAgent: "test"))
    }

    private func settings(_ arguments: [String] = []) throws -> HTTPSettings {
        let all = leastArguments + ["--http", "127.0.0.1:0"] + arguments
        return try #require(try ConfigurationLoader(inputs(all)).configuration().http)
    }

    private func withDoor(
        isWarm: Bool = true, _ arguments: [String] = [],
        _ body: (ServingFixture, String) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let fixture = try ServingFixture(directory: directory, isWarm: isWarm)
            defer { fixture.end() }
            let door = try HTTPDoor(try settings(arguments), identity: nil, fixture.parts)
            defer { door.stop(isAtOnce: false) }
            try body(fixture, "http://" + door.address)
        }
    }

    private func post(_ body: [UInt8], to base: String) throws -> HTTPResponse {
        try client.send(
            HTTPRequest(method: "POST", target: base + "/apple/notifications", body: body))
    }

    private func get(_ path: String, from base: String) throws -> HTTPResponse {
        try client.send(HTTPRequest(target: base + path))
    }

    private func text(_ response: HTTPResponse) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test func `what Apple posts is stored before it is answered, and a repeat is known`() throws {
        try withDoor { (fixture, base) throws in
            let body = try fixture.body("ONE_TIME_CHARGE", "7", uuid: "u1")
            let first = try post(body, to: base)
            #expect(first.status == 200 && text(first).contains("APPLIED"))
            #expect(fixture.parts.service.reader.serverInfo().transactionCount == 1)
            let again = try post(body, to: base)
            #expect(again.status == 200 && text(again).contains("DUPLICATE"))
            #expect(fixture.parts.service.reader.serverInfo().revision == 1)
        }
    }

    @Test func `what can never be right is refused, and nothing is stored`() throws {
        try withDoor { (fixture, base) throws in
            #expect(try post(Array("{}".utf8), to: base).status == 400)
            #expect(try post([], to: base).status == 400)
            let other = try ServingFixture.strangers(fixture)
            let refused = try post(other, to: base)
            #expect(refused.status == 400 && text(refused).contains("UNTRUSTED_CHAIN"))
            #expect(fixture.parts.service.reader.serverInfo().revision == 0)
        }
    }

    @Test func `a longer body than configured is refused`() throws {
        try withDoor(["--limits-max-http-body", "64KiB"]) { (_, base) throws in
            let longest = [UInt8](repeating: 0x20, count: 64 << 10)
            #expect(try post(longest, to: base).status == 400)
            #expect(try post(longest + [0x20], to: base).status == 413)
        }
    }

    @Test func `a healthy server is live, ready and started`() throws {
        try withDoor { (_, base) throws in
            for path in ["/livez", "/readyz", "/healthz", "/startupz", "/readyz?verbose"] {
                #expect(try get(path, from: base).status == 200)
            }
        }
    }

    @Test func `a server that is going down is live and not ready, and takes nothing new`() throws {
        try withDoor { (fixture, base) throws in
            fixture.parts.state.beginDraining()
            #expect(try get("/livez", from: base).status == 200)
            let ready = try get("/readyz", from: base)
            #expect(ready.status == 503 && text(ready).contains("draining"))
            let refused = try post(
                try fixture.body("ONE_TIME_CHARGE", "7", uuid: "u1"), to: base)
            #expect(refused.status == 503 && refused.fields.value("retry-after") != nil)
            #expect(fixture.parts.service.reader.serverInfo().revision == 0)
        }
    }

    @Test func `a main thread that does not turn is not live`() throws {
        try withDoor { (fixture, base) throws in
            fixture.parts.state.turned(atMilliseconds: MonotonicClock.nowMilliseconds)
            #expect(try get("/livez", from: base).status == 200)
            let longAgo = MonotonicClock.nowMilliseconds &- 60_000
            fixture.parts.state.turned(atMilliseconds: longAgo)
            #expect(try get("/livez", from: base).status == 503)
        }
    }

    @Test func `a store that takes no writes is not ready`() throws {
        try withDoor { (fixture, base) throws in
            fixture.parts.store.close()
            let refused = try post(
                try fixture.body("ONE_TIME_CHARGE", "7", uuid: "u1"), to: base)
            #expect(refused.status == 503 && text(refused).contains("STORE_UNAVAILABLE"))
        }
    }

    @Test func `warming is told and is no reason to send nobody`() throws {
        try withDoor(isWarm: false) { (_, base) throws in
            let verbose = try get("/readyz?verbose", from: base)
            #expect(verbose.status == 200 && text(verbose).contains("warming"))
        }
    }

    @Test func `metrics tell what the listener itself answered`() throws {
        try withDoor { (fixture, base) throws in
            _ = try post(try fixture.body("ONE_TIME_CHARGE", "7", uuid: "u1"), to: base)
            let metrics = text(try get("/metrics", from: base))
            #expect(
                metrics.contains(
                    "entitled_http_requests_total{path=\"/apple/notifications\",code=\"200\"} 1\n"))
            #expect(metrics.contains("entitled_revision 1\n"))
        }
    }

    @Test func `an address in use and a certificate that is none are told apart`() throws {
        try withDoor { (fixture, base) throws in
            var taken = try settings()
            taken.address = try SocketAddress(String(base.dropFirst("http://".count)))
            let failure = #expect(throws: StartFailure.self) {
                try HTTPDoor(taken, identity: nil, fixture.parts)
            }
            #expect(failure?.exitCode == .operatingSystem)
            let identity = HTTPServerIdentity(
                certificateChain: Array("-----BEGIN CERTIFICATE-----\n".utf8), privateKey: [])
            let free = try settings()
            let refused = #expect(throws: StartFailure.self) {
                try HTTPDoor(free, identity: identity, fixture.parts)
            }
            #expect(refused?.exitCode == .configuration)
        }
    }
}
