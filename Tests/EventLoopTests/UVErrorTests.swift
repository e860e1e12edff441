import Testing

@testable import EventLoop

@Suite struct UVErrorTests {
    @Test func `an error says what was attempted, on what, and why it failed`() {
        let error = UVError(code: -98, operation: "bind", subject: "127.0.0.1:7420")
        #expect(
            error.description == "bind 127.0.0.1:7420: address already in use (EADDRINUSE)")
        #expect(error.isAddressInUse && !error.isPeerGone && !error.isPermission)
    }

    @Test func `an unknown number is still described`() {
        let error = UVError(code: -99_999, operation: "read")
        #expect(error.description.hasPrefix("read: "))
    }

    @Test func `only negative results throw`() throws {
        #expect(try UVError.check(3, "read") == 3)
        #expect(throws: UVError(code: -1, operation: "read", subject: "x")) {
            try UVError.check(-1, "read", "x")
        }
    }
}
