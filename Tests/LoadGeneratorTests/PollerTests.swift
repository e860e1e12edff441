import Testing

@testable import LoadGenerator

@Suite struct PollerTests {
    @Test func `nothing to report is reported when the time is over`() throws {
        let poller = try Poller()
        let before = LoadClock.now
        let (at0, at3) = (
            try poller.wait(nanoseconds: 0), try poller.wait(nanoseconds: 3_000_000)
        )
        #expect(at0 == 0 && at3 == 0)
        #expect(LoadClock.now - before >= 3_000_000)
    }

    @Test func `a socket with room for output is reported when that is asked for`() throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        let socket = try LoadSocket.connect(echo.address)
        let poller = try Poller()
        try poller.add(socket, token: 7)
        let before = try poller.wait(nanoseconds: 0)
        try poller.change(socket, token: 7, withOutput: true)
        let asked = try poller.wait(nanoseconds: 1_000_000_000)
        let event = poller.event(0)
        try poller.change(socket, token: 7, withOutput: false)
        let after = try poller.wait(nanoseconds: 0)
        #expect((before, asked, after) == (0, 1, 0))
        #expect(event == (7, false, true))
    }

    @Test func `a descriptor that is none is refused with the system's word`() throws {
        let poller = try Poller()
        var error: LoadError?
        do throws(LoadError) { try poller.add(-1, token: 0) } catch let found { error = found }
        #expect(error == .system(operation: "watch a socket", code: 9))
    }

    @Test func `a processor that the machine does not have is refused`() {
        #expect(throws: LoadError.self) { try Processors.pin([1_023]) }
        #expect(throws: LoadError.self) { try Processors.pin([-1]) }
    }
}
