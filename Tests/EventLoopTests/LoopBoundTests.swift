import Testing

@testable import EventLoop

@Suite struct LoopBoundTests {
    @Test func `the value comes out on its own thread`() {
        let bound = LoopBound([1, 2])
        #expect(bound.value == [1, 2])
    }

    @Test func `taking the value on another thread stops the process`() async {
        await #expect(processExitsWith: .failure) {
            let bound = LoopBound(1)
            let thread = try Thread(name: "stranger") { _ = bound.value }
            thread.join()
        }
    }
}
