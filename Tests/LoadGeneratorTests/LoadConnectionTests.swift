import EventLoop
import Testing

@testable import LoadGenerator

@Suite struct LoadConnectionTests {
    @Test func `a socket connects, sends, and is told when nobody is there`() throws {
        let echo = try LoopbackEcho()
        let socket = try LoadSocket.connect(echo.address)
        #expect(try LoadSocket.send([1, 2, 3].span, to: socket) == 3)
        echo.stop()
        #expect(throws: LoadError.connectFailed(address: echo.address.description, code: 111)) {
            try LoadSocket.connect(echo.address)
        }
        #expect(throws: LoadError.self) {
            try LoadSocket.connect(.unix(path: "/nowhere/at/all"))
        }
        #expect(throws: LoadError.self) {
            try LoadSocket.connect(.ipv6(host: "::1", port: 1))
        }
    }
}
