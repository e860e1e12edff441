import EventLoop
import OpenSSL
import TestSupport
import Testing

@testable import LoadGenerator

@Suite(.timeLimit(.minutes(1))) struct LoadTLSTests {
    @Test func `two are the same when they share the context and the name`() throws {
        let authority = try TLSAuthority()
        let context = try TLSContext(client: authority.pem)
        let one = LoadTLS(context: context, host: "localhost")
        #expect(one == LoadTLS(context: context, host: "localhost"))
        #expect(one != LoadTLS(context: context, host: "127.0.0.1"))
        #expect(
            one != LoadTLS(context: try TLSContext(client: authority.pem), host: "localhost"))
    }

    @Test func `a server that speaks no TLS ends the run`() throws {
        // It waits for the end of a frame, as the first bytes of a handshake announce a long one.
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        let tls = LoadTLS(
            context: try TLSContext(client: try TLSAuthority().pem), host: "127.0.0.1")
        let socket = try LoadSocket.connect(echo.address)
        let error = #expect(throws: LoadError.self) {
            _ = try tls.connect(socket, buffers: TLSBuffers(), within: 100_000_000)
        }
        #expect(error == .stalled(nanoseconds: 100_000_000))
    }
}
