@testable import HTTP
import Testing

@Suite struct ExchangeTests {
    private let exchange = Exchange(
        rawTarget: "/",
        connection: PeerConnection(
            descriptor: -1, peer: PeerAddress(high: 0, low: 0), now: 0, deadline: 0))

    private func take(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe exchange.take(body: $0) }
    }

    @Test func `pieces are one body`() {
        exchange.take(head: HTTPRequest(method: "POST", target: "/"))
        take([1, 2])
        take([3])
        #expect(exchange.hasHead)
        #expect(exchange.request.body == [1, 2, 3])
        #expect(exchange.bufferedByteCount == 3)
    }

    @Test func `what is refused is forgotten, and the connection ends`() {
        take([1, 2])
        #expect(exchange.refuse(with: HTTPResponse(status: 413)) == 2)
        #expect(exchange.request.body.isEmpty && exchange.bufferedByteCount == 0)
        #expect(exchange.endsConnection && exchange.response?.status == 413)
        #expect(!exchange.discard(10, limit: 20))
        #expect(!exchange.discard(10, limit: 20))
        #expect(exchange.discard(1, limit: 20))
    }
}
