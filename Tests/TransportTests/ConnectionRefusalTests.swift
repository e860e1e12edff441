import Testing
import Wire

@testable import Transport

@Suite struct ConnectionRefusalTests {
    @Test func `the frame reads as a refusal of no request`() throws {
        let frame = ConnectionRefusal.tooManyConnections
        #expect(frame[..<4].reduce(0) { $0 << 8 | Int($1) } == frame.count - 4)
        let body = Array(frame[4...])
        let response = try Response(decoding: body.span, in: MessageArena())
        #expect(response.id == 0)
        #expect(response.status == .resourceExhausted)
        #expect(response.reason == "OVERLOADED")
        #expect(response.retryAfterMilliseconds == 1_000)
        #expect(response.result == nil)
    }
}
