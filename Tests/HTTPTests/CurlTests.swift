@testable import HTTP
import Testing

/// What of the wrapper can be seen without a server.
@Suite struct CurlTests {
    @Test(arguments: [
        ("https://a.example/path?token=x", "https://a.example"),
        ("HTTP://a.example:81", "http://a.example:81"),
        ("https://user:secret@a.example/", "https://a.example"),
        ("https://[::1]:7/", "https://[::1]:7"),
        ("https://", ""), ("https:///x", ""), ("ftp://a", ""), ("a.example", ""), ("", ""),
        ("file:///etc/passwd", ""),
    ])
    func `the server of a URL is told without what may be secret`(url: String, server: String) {
        #expect(CurlHandle.server(of: url).utf8.elementsEqual(server.utf8))
    }

    @Test func `a status line begins the fields anew`() {
        let transfer = CurlTransfer(limits: HTTPLimits()) { false }
        for line in [
            "HTTP/1.1 100 Continue\r\n", "A: 1\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "B:  2 \r\n",
            "C:\r\n", "no colon\r\n", "\r\n",
        ] {
            transfer.take(line: Array(line.utf8))
        }
        #expect(transfer.fields == [HTTPField("B", "2"), HTTPField("C", "")])
    }
}
