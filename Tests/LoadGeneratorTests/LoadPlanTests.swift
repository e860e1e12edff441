import Testing

@testable import LoadGenerator

@Suite struct LoadPlanTests {
    @Test(
        arguments: [
            (.connectFailed(address: "127.0.0.1:1", code: 111), "127.0.0.1:1: no connection"),
            (.refused("no room"), "no room"), (.connectionLost(code: 0), "ended a connection"),
            (.connectionLost(code: 104), "reset"), (.protocolViolation("nonsense"), "nonsense"),
            (.stalled(nanoseconds: 1_500_000_000), "1.5 s"),
            (.system(operation: "make a poller", code: 24), "make a poller: Too many open files"),
        ] as [(LoadError, String)])
    func `every failure says what happened`(error: LoadError, words: String) {
        #expect(error.description.contains(words))
    }
}
