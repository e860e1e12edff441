import Testing

@testable import entitled

@Suite struct DaemonStateTests {
    @Test func `a daemon that has just begun is neither draining nor warm`() {
        let state = DaemonState()
        #expect(!state.isDraining && !state.hasWarmed)
        state.beginDraining()
        state.endWarming()
        #expect(state.isDraining && state.hasWarmed)
    }

    @Test func `the last reading of the configuration is remembered beside the counts`() {
        let state = DaemonState()
        #expect(state.reloads.hasLastSucceeded)
        state.reloaded(successfully: false)
        #expect(
            state.reloads == .init(succeededCount: 0, failedCount: 1, hasLastSucceeded: false))
        state.reloaded(successfully: true)
        #expect(state.reloads == .init(succeededCount: 1, failedCount: 1, hasLastSucceeded: true))
    }

    @Test func `a main thread that is not watched never stalls`() {
        let state = DaemonState()
        #expect(state.stalledMilliseconds(atMilliseconds: 1 << 40) == 0)
        state.turned(atMilliseconds: 1_000)
        #expect(state.stalledMilliseconds(atMilliseconds: 6_000) == 5_000)
        #expect(state.stalledMilliseconds(atMilliseconds: 999) == 0)
    }
}
