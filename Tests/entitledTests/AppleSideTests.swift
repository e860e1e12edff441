import AppStoreServerAPI
import EventLoop
import Reconciliation
import Testing

@testable import entitled

@Suite struct AppleSideTests {
    private func settings(_ more: [String] = []) throws -> AppStoreAPISettings {
        let arguments = [
            "--apple-api-issuer-id", "i", "--apple-api-key-id", "k", "--apple-api-key-file", "/k",
        ]
        return try #require(
            try ConfigurationLoader(inputs(leastArguments + arguments + more)).configuration()
                .appStoreAPI)
    }

    @Test func `what is configured reaches the client`() throws {
        let configuration = try settings([
            "--apple-api-base-url", "https://a.example/", "--apple-api-sandbox-base-url",
            "http://127.0.0.1:1", "--apple-api-history-rate", "7",
        ]).clientConfiguration
        #expect(configuration.productionURL == "https://a.example")
        #expect(configuration.sandboxURL == "http://127.0.0.1:1")
        #expect(configuration.historyRatePerSecond == 7)
    }

    @Test func `what is configured reaches the threads in the background`() throws {
        let configuration = try settings([
            "--apple-api-threads", "3", "--apple-api-sweep-interval", "0s",
            "--apple-api-backfill-interval", "1m",
        ]).reconciliation
        #expect(configuration.fetchThreadCount == 3)
        #expect(configuration.sweepInterval == 0 && configuration.backfillInterval == 60_000)
    }

    @Test func `a pause ends when its time is over, and nobody pauses after the end`() {
        let waiting = AppleWaiting()
        #expect(waiting.sleep(milliseconds: 0))
        #expect(waiting.sleep(milliseconds: 1))
        waiting.giveUp()
        #expect(!waiting.sleep(milliseconds: 60_000))
    }

    @Test(.timeLimit(.minutes(1))) func `the end cuts a long pause short`() throws {
        let waiting = AppleWaiting()
        let results = BlockingQueue<Bool>(capacity: 1)
        let thread = try Thread(name: "pause") {
            _ = results.push(waiting.sleep(milliseconds: 3_600_000))
        }
        waiting.giveUp()
        #expect(results.pop() == false)
        thread.join()
    }
}
