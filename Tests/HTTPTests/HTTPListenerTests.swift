@testable import HTTP
import Synchronization
import Testing

/// Says what it was asked.
private let echo: HTTPListener.Handler = { request in
    HTTPResponse(
        status: 200, fields: [HTTPField("Content-Type", "text/plain")],
        body: Array("\(request.method) \(request.target) ".utf8) + request.body)
}

@Suite struct HTTPListenerTests {
    private let client: HTTPClient

    init() throws {
        client = try HTTPClient(options: .init(userAgent: "test/1"))
    }

    private func text(_ response: HTTPResponse) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test func `a request reaches the handler whole and the response the client`() throws {
        let listener = try HTTPListener(options: .init(), handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let body = [UInt8](repeating: 0x61, count: 300_000)
        let response = try client.send(
            HTTPRequest(method: "POST", target: "http://\(listener.address)/a%20b?x=1", body: body))
        #expect(response.status == 200)
        #expect(response.fields.value("content-type") == "text/plain")
        #expect(response.body == Array("POST /a b ".utf8) + body)
        #expect(listener.counts.responses == [0, 1, 0, 0, 0])
    }

    @Test func `one connection serves one request after the other`() throws {
        let listener = try HTTPListener(options: .init(), handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        for index in 0..<10 {
            let response = try client.send(
                HTTPRequest(method: "POST", target: "http://\(listener.address)/\(index)"))
            #expect(text(response) == "POST /\(index) ")
        }
        #expect(listener.counts.acceptedConnections == 1)
        #expect(client.openedConnectionCount == 1)
    }

    @Test func `it serves over TLS with its own certificate`() throws {
        let identity = try TestIdentity()
        let listener = try HTTPListener(
            options: .init(identity: identity.server), handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let trusting = try HTTPClient(
            options: .init(userAgent: "test/1", extraRoots: identity.root))
        let request = HTTPRequest(target: "https://\(listener.address)/")
        #expect(text(try trusting.send(request)) == "GET / ")
        #expect(throws: HTTPError.self) { try client.send(request) }
    }

    @Test func `what is answered early needs no worker, and the connection goes on`() throws {
        let (gate, entered) = (Gate(), Gate())
        var options = HTTPListenerOptions()
        options.workerCount = 1
        options.waitingRequestCountMax = 1
        let listener = try HTTPListener(
            options: options,
            early: { $0.target == "/probe" ? HTTPResponse(status: 204) : nil },
            handler: { _ in
                entered.open()
                gate.pass()
                return HTTPResponse(status: 200)
            })
        defer { listener.stop(graceMilliseconds: 5_000) }
        let working = try RawSocket(port: listener.port)
        working.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        entered.pass()
        // One works, one waits, and the next is too many.
        var refused = 0
        while refused == 0 {
            let limits = HTTPLimits(totalMilliseconds: 100)
            let url = "http://\(listener.address)/"
            if let response = try? client.send(HTTPRequest(target: url), limits: limits) {
                #expect(response.status == 503)
                #expect(response.fields.value("retry-after") == "1")
                refused += 1
            }
        }
        let probe = HTTPRequest(target: "http://\(listener.address)/probe")
        let opened = client.openedConnectionCount
        for _ in 0..<3 { #expect(try client.send(probe).status == 204) }
        #expect(client.openedConnectionCount <= opened + 1)
        gate.open()
        #expect(try working.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(listener.counts.overloadedRequests >= 1)
    }

    @Test func `what is refused early is refused before its body comes`() throws {
        let listener = try HTTPListener(
            options: .init(), early: { _ in HTTPResponse(status: 404) }, handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let socket = try RawSocket(port: listener.port)
        socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        let answer = try socket.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 404"))
        #expect(answer.lowercased().contains("connection: close"))
    }

    @Test func `a stop lets the running request end and refuses new connections`() throws {
        let (gate, entered) = (Gate(), Gate())
        let listener = try HTTPListener(options: .init()) { _ in
            entered.open()
            gate.pass()
            return HTTPResponse(status: 200)
        }
        let (busy, idle) = (
            try RawSocket(port: listener.port), try RawSocket(port: listener.port)
        )
        busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        entered.pass()
        let stopped = Gate()
        // Not a task: those share few threads, which other tests may hold.
        let isStarted = startThread {
            listener.stop(graceMilliseconds: 60_000)
            stopped.open()
        }
        #expect(isStarted)
        #expect(try idle.receiveAll().isEmpty)
        #expect(throws: RawSocket.Failure.self) { _ = try RawSocket(port: listener.port) }
        gate.open()
        let answer = try busy.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.lowercased().contains("connection: close"))
        stopped.pass()
        #expect(listener.counts.connections == 0)
    }

    @Test func `a handler that hangs does not hold up the stop`() throws {
        let (gate, entered) = (Gate(), Gate())
        let listener = try HTTPListener(options: .init()) { _ in
            entered.open()
            gate.pass()
            return HTTPResponse(status: 200)
        }
        let socket = try RawSocket(port: listener.port)
        socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        entered.pass()
        listener.stop(graceMilliseconds: 20)
        #expect(try socket.receiveAll().hasPrefix("HTTP/1.1 503"))
        gate.open()
    }

    @Test func `a request that drips is cut at its deadline`() throws {
        var options = HTTPListenerOptions()
        options.requestMilliseconds = 200
        let listener = try HTTPListener(options: options, handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let socket = try RawSocket(port: listener.port)
        socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        // Until the other side has gone, which only its deadline makes it do.
        while socket.send("x") {}
        #expect(listener.counts.timedOutConnections == 1)
    }

    @Test func `a crowd of silent connections keeps nobody out`() throws {
        var options = HTTPListenerOptions()
        options.connectionCountMax = 8
        let listener = try HTTPListener(options: options, handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let crowd = try (0..<8).map { _ in try RawSocket(port: listener.port) }
        let request = HTTPRequest(target: "http://\(listener.address)/")
        #expect(text(try client.send(request)) == "GET / ")
        #expect(try crowd[0].receiveAll().isEmpty)
        #expect(listener.counts.evictedConnections >= 1)
    }

    @Test func `more bodies than may be buffered are refused and others go on`() throws {
        var options = HTTPListenerOptions()
        options.bodyByteCountMax = 1_000
        options.bufferedByteCountMax = 1_500
        let listener = try HTTPListener(options: options, handler: echo)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
        let part = String(repeating: "x", count: 900)
        let first = try RawSocket(port: listener.port)
        first.send(head + part)
        let second = try RawSocket(port: listener.port)
        var answers: [String] = []
        second.send(head + part + String(repeating: "x", count: 100))
        answers.append(try second.receive(until: "\r\n\r\n"))
        first.send(String(repeating: "x", count: 100))
        answers.append(try first.receive(until: "\r\n\r\n"))
        #expect(answers.contains { $0.hasPrefix("HTTP/1.1 503") })
        let body = [UInt8](repeating: 1, count: 1_000)
        let request = HTTPRequest(
            method: "POST", target: "http://\(listener.address)/", body: body)
        #expect(try client.send(request).status == 200)
    }
}
