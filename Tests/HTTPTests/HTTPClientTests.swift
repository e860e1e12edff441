@testable import HTTP
import OpenSSL
import Synchronization
import Testing

/// A server that says exactly what a test wants, once per connection.
private final class ScriptedServer: Sendable {
    let listener: HTTPListener
    init(_ handler: @escaping HTTPListener.Handler) throws {
        listener = try HTTPListener(options: .init(), handler: handler)
    }
    var url: String { "http://\(listener.address)" }
}

@Suite struct HTTPClientTests {
    private func client(_ change: (inout HTTPClientOptions) -> Void = { _ in }) throws -> HTTPClient
    {
        var options = HTTPClientOptions(userAgent: "entitled/test")
        change(&options)
        return try HTTPClient(options: options)
    }

    private func kind(_ body: () throws -> HTTPResponse) -> HTTPError.Kind? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? HTTPError)?.kind
        }
    }

    @Test func `method, fields, body and agent arrive as they were given`() throws {
        let server = try ScriptedServer { request in
            var text = "\(request.method)\n"
            for field in request.fields.filter({ $0.name.lowercased() != "accept" }) {
                text += "\(field.name.lowercased())=\(field.value)\n"
            }
            return HTTPResponse(status: 418, body: Array(text.utf8) + request.body)
        }
        let response = try client().send(
            HTTPRequest(
                method: "PUT", target: server.url + "/",
                fields: [HTTPField("X-One", "1 2"), HTTPField("X-Empty", "")],
                body: Array("hello".utf8)))
        #expect(response.status == 418)
        let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
        #expect(lines.first == "PUT" && lines.last == "hello")
        #expect(lines.contains("user-agent=entitled/test"))
        #expect(lines.contains("x-one=1 2") && lines.contains("x-empty="))
        #expect(lines.contains("content-length=5"))
        #expect(!lines.contains { $0.hasPrefix("expect") })
    }

    @Test func `a method leaves no trace in the next request of the same handle`() throws {
        let server = try ScriptedServer { request in
            HTTPResponse(status: 200, body: Array("\(request.method)\(request.body.count)".utf8))
        }
        let client = try client()
        var answers: [String] = []
        for (method, body) in [
            ("POST", [1, 2]), ("GET", []), ("HEAD", []), ("GET", []), ("DELETE", []), ("POST", []),
        ] as [(String, [UInt8])] {
            let response = try client.send(
                HTTPRequest(method: method, target: server.url, body: body))
            answers.append(String(decoding: response.body, as: UTF8.self))
        }
        #expect(answers == ["POST2", "GET0", "", "GET0", "DELETE0", "POST0"])
        #expect(client.openedConnectionCount == 1)
    }

    @Test func `a body at the limit is taken, one byte more is refused`() throws {
        let server = try ScriptedServer { _ in
            HTTPResponse(status: 200, body: [UInt8](repeating: 0, count: 10_000))
        }
        let client = try client()
        let request = HTTPRequest(target: server.url)
        let taken = try client.send(request, limits: .init(bodyByteCountMax: 10_000))
        #expect(taken.body.count == 10_000)
        #expect(
            kind { try client.send(request, limits: .init(bodyByteCountMax: 9_999)) } == .tooLarge)
        #expect(try client.send(request).body.count == 10_000)
    }

    @Test func `fields without end are refused`() throws {
        let server = try ScriptedServer { _ in
            HTTPResponse(
                status: 200,
                fields: (0..<50).map { HTTPField("X-\($0)", String(repeating: "x", count: 100)) })
        }
        let client = try client()
        let request = HTTPRequest(target: server.url)
        #expect(
            kind { try client.send(request, limits: .init(fieldByteCountMax: 4_000)) } == .tooLarge)
        #expect(try client.send(request).fields.count >= 50)
    }

    @Test func `a redirect is a response`() throws {
        let server = try ScriptedServer { _ in
            HTTPResponse(status: 302, fields: [HTTPField("Location", "http://127.0.0.1:1/")])
        }
        let response = try client().send(HTTPRequest(target: server.url))
        #expect(response.status == 302)
        #expect(response.fields.value("location") == "http://127.0.0.1:1/")
    }

    @Test(arguments: [
        HTTPRequest(target: "ftp://127.0.0.1/"), HTTPRequest(target: "file:///etc/passwd"),
        HTTPRequest(target: "127.0.0.1/"), HTTPRequest(target: "http://127.0.0.1/a b"),
        HTTPRequest(target: "http://127.0.0.1/\r\nX: y"),
        HTTPRequest(method: "GET X", target: "http://127.0.0.1/"),
        HTTPRequest(method: "", target: "http://127.0.0.1/"),
        HTTPRequest(target: "http://127.0.0.1/", fields: [HTTPField("A", "b\r\nC: d")]),
        HTTPRequest(target: "http://127.0.0.1/", fields: [HTTPField("A: b", "c")]),
        HTTPRequest(target: "http://127.0.0.1/", fields: [HTTPField("", "c")]),
    ])
    func `what would be another request is not sent`(request: HTTPRequest) throws {
        let client = try client()
        #expect(kind { try client.send(request) } == .invalidRequest)
    }

    @Test func `nobody there, nobody of that name, nobody who answers`() throws {
        let client = try client()
        let closed = try HTTPListener(options: .init()) { _ in HTTPResponse(status: 200) }
        let port = closed.port
        closed.stop(graceMilliseconds: 0)
        #expect(
            kind { try client.send(HTTPRequest(target: "http://127.0.0.1:\(port)/")) } == .connect)
        #expect(kind { try client.send(HTTPRequest(target: "http://nobody.invalid/")) } == .resolve)
        let gate = Gate()
        let slow = try ScriptedServer { _ in
            gate.pass()
            return HTTPResponse(status: 200)
        }
        defer { gate.open() }
        let error = #expect(throws: HTTPError.self) {
            try client.send(
                HTTPRequest(target: slow.url + "/secret"), limits: .init(totalMilliseconds: 50))
        }
        #expect(error?.kind == .timedOut)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.mayRetryHelp == true)
    }

    @Test func `who does not want the response any more does not wait for it`() throws {
        let (gate, entered, isDone) = (Gate(), Gate(), Gate())
        let server = try ScriptedServer { _ in
            entered.open()
            gate.pass()
            return HTTPResponse(status: 200)
        }
        defer { gate.open() }
        let client = try client()
        let cancellation = HTTPCancellation()
        let result = Mutex<HTTPError.Kind?>(nil)
        let isStarted = startThread { [url = server.url] in
            let found = kind {
                try client.send(HTTPRequest(target: url), cancellation: cancellation)
            }
            result.withLock { $0 = found }
            isDone.open()
        }
        #expect(isStarted)
        entered.pass()
        cancellation.cancel()
        isDone.pass()
        #expect(result.withLock { $0 } == .cancelled)
        client.cancelAll()
        #expect(kind { try client.send(HTTPRequest(target: server.url)) } == .cancelled)
    }

    @Test func `a response that breaks off is no response`() throws {
        let raw = try RawServer(
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nabc")
        #expect(kind { try client().send(HTTPRequest(target: raw.url)) } == .closed)
        let mute = try RawServer(answer: "")
        #expect(kind { try client().send(HTTPRequest(target: mute.url)) } == .closed)
        let other = try RawServer(answer: "220 mail ready\r\n")
        #expect(kind { try client().send(HTTPRequest(target: other.url)) } == .protocolViolation)
    }

    @Test func `certificates of strangers, of other names and out of date are refused`() throws {
        let trusted = try TestIdentity()
        let cases: [(TestIdentity, [UInt8])] = [
            (try TestIdentity(), trusted.root),
            (try TestIdentity(names: ["DNS:other.example"]), []),
            (
                try TestIdentity(
                    validity: .init(
                        notBeforeMilliseconds: 1_262_304_000_000,
                        notAfterMilliseconds: 1_300_000_000_000)), []
            ),
        ]
        for (identity, root) in cases {
            let listener = try HTTPListener(options: .init(identity: identity.server)) { _ in
                HTTPResponse(status: 200)
            }
            let client = try client { $0.extraRoots = root.isEmpty ? identity.root : root }
            let error = #expect(throws: HTTPError.self) {
                try client.send(HTTPRequest(target: "https://\(listener.address)/"))
            }
            #expect(error?.kind == .tls)
            #expect(error?.isCertificateRefused == true)
            #expect(error?.mayRetryHelp == false)
        }
    }

    @Test func `connections are shared out among threads`() async throws {
        let server = try ScriptedServer { HTTPResponse(status: 200, body: $0.body) }
        let client = try client()
        let url = server.url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        let body = [UInt8](repeating: UInt8(index), count: 1_000 * (index + 1))
                        let response = try client.send(
                            HTTPRequest(method: "POST", target: url, body: body))
                        #expect(response.body == body)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(client.openedConnectionCount <= 8)
    }
}
