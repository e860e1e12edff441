import HTTP
import Synchronization
import Testing

/// What strangers may send: each ends with an answer or a closed connection, and with a listener
/// that goes on.
@Suite struct ListenerAttackTests {
    private static let limits: HTTPListenerOptions = {
        var options = HTTPListenerOptions()
        options.bodyByteCountMax = 1_000
        options.bufferedByteCountMax = 10_000
        return options
    }()

    private let listener: HTTPListener

    init() throws {
        listener = try HTTPListener(options: Self.limits) { request in
            HTTPResponse(status: 200, body: Array("<\(request.body.count)>".utf8))
        }
    }

    private func status(_ text: String) -> String {
        String(text.prefix(12).suffix(3))
    }

    private func answer(to text: String) throws -> String {
        let socket = try RawSocket(port: listener.port)
        socket.send(text)
        socket.shutdownWrites()
        return try socket.receiveAll()
    }

    @Test(arguments: [
        ("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n"),
        ("Content-Length: 4\r\nContent-Length: 5", "abcde"),
        ("Content-Length: 4\r\nContent-Length: 4", "abcd"),
        ("Content-Length: 4\r\ncontent-length: 0", "abcd"),
        ("Content-Length: +4", "abcd"),
        ("Content-Length: 4, 4", "abcd"),
        ("Content-Length: 0x4", "abcd"),
        ("Content-Length: -1", "abcd"),
        ("Content-Length: ", "abcd"),
        ("Content-Length: 99999999999999999999", "abcd"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
        ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: identity", "abcd"),
        ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        ("Transfer-Encoding:\u{0B}chunked", "0\r\n\r\n"),
        ("X: y\r\n Content-Length: 4", "abcd"),
        ("X: y\rContent-Length: 4", "abcd"),
        ("Transfer-Encoding : chunked", "0\r\n\r\n"),
        ("Content-Length : 4", "abcd"),
    ])
    func `a body that ends in two ways is refused, and nothing behind it is read`(
        fields: String, body: String
    ) throws {
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        let answer = try answer(
            to: "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)\(smuggled)")
        #expect(status(answer) == "400" || status(answer) == "413", "\(answer)")
        #expect(!answer.contains(" 200 "), "\(answer)")
    }

    @Test(arguments: [
        "\r\n\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a?b c HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET relative HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcde\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n",
        "GET /" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
    ])
    func `what is no request gets no 200, and the next one is answered`(text: String) throws {
        let answer = try answer(to: text)
        #expect(!answer.contains(" 200 "), "\(answer.prefix(400))")
        #expect(try self.answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").contains(" 200 "))
    }

    @Test func `a long Content-Length is refused before the body comes`() throws {
        let socket = try RawSocket(port: listener.port)
        socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n")
        #expect(status(try socket.receiveAll()) == "413")
        #expect(listener.counts.tooLargeRequests == 1)
    }

    @Test func `the longest body that is allowed is taken`() throws {
        let answer = try answer(
            to: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
                + String(repeating: "x", count: 1_000))
        #expect(answer.hasSuffix("<1000>"))
    }

    @Test func `who asks before sending a long body is told not to`() throws {
        let socket = try RawSocket(port: listener.port)
        socket.send(
            "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n")
        let answer = try socket.receiveAll()
        #expect(status(answer) == "413")
        #expect(!answer.contains("100 Continue"))
    }

    @Test func `who asks before sending a short body is told to go on`() throws {
        let socket = try RawSocket(port: listener.port)
        socket.send(
            "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(status(try socket.receive(until: "\r\n\r\n")) == "100")
        socket.send("abc")
        #expect(try socket.receive(until: "<3>").contains("HTTP/1.1 200"))
    }

    @Test func `a client that sends ten megabytes before it reads gets its 413`() throws {
        let client = try HTTPClient(options: .init(userAgent: "test/1"))
        let socket = try RawSocket(port: listener.port)
        socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
        let isTaken = socket.send([UInt8](repeating: 0x78, count: 10_000_000))
        #expect(isTaken)
        #expect(status(try socket.receiveAll()) == "413")
        let chunked = try RawSocket(port: listener.port)
        chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<100 {
            chunked.send("186a0\r\n" + String(repeating: "x", count: 100_000) + "\r\n")
        }
        chunked.send("0\r\n\r\n")
        #expect(status(try chunked.receiveAll()) == "413")
        #expect(try client.send(HTTPRequest(target: "http://\(listener.address)/")).status == 200)
    }

    @Test func `chunks are one body`() throws {
        let answer = try answer(
            to: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n")
        #expect(answer.hasSuffix("<5>"))
    }

    @Test func `a request that comes byte by byte is one request`() throws {
        let socket = try RawSocket(port: listener.port)
        for byte in Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8) {
            socket.send([byte])
        }
        #expect(try socket.receive(until: "<3>").contains("HTTP/1.1 200"))
    }

    @Test func `requests sent together are answered in order`() throws {
        let socket = try RawSocket(port: listener.port)
        let text = (1...5).map { count in
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
                + String(repeating: "x", count: count)
        }
        socket.send(text.joined())
        let answer = try socket.receive(until: "<5>")
        let bodies = answer.split(separator: "\r\n\r\n").compactMap { part in
            part.hasPrefix("<") ? Int(part.dropFirst().prefix(1)) : nil
        }
        #expect(bodies == [1, 2, 3, 4, 5], "\(answer)")
    }

    @Test func `HEAD has the head of GET and no body`() throws {
        let answer = try answer(to: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(status(answer) == "200")
        #expect(answer.lowercased().contains("content-length: 3\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func `who goes away in the middle harms nobody`() throws {
        for text in ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc", "PO", ""] {
            for _ in 0..<20 { _ = try RawSocket(port: listener.port).send(text) }
        }
        #expect(try answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").contains(" 200 "))
    }
}
