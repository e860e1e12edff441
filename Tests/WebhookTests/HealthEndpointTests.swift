@testable import Webhook
import HTTP
import Testing

@Suite struct HealthEndpointTests {
    private let probe = HTTPRequest(target: "/")
    private let verbose = HTTPRequest(target: "/", query: [HTTPField("verbose", "")])

    @Test func `a healthy server is alive, ready and started`() {
        let endpoint = HealthEndpoint { HealthReport() }
        for response in [
            endpoint.live(probe), endpoint.ready(probe), endpoint.startup(probe),
        ] {
            #expect(response.status == 200)
            #expect(text(response) == "ok\n")
            #expect(response.fields.value("cache-control") == "no-store")
        }
    }

    @Test func `a loop that has not turned for five seconds is stuck`() {
        #expect(HealthEndpoint { .init(loopSilenceMilliseconds: 4_999) }.live(probe).status == 200)
        let response = HealthEndpoint { .init(loopSilenceMilliseconds: 5_000) }.live(probe)
        #expect(response.status == 503)
        #expect(text(response) == "[-] loops: an event loop has not turned for 5000 ms\n")
    }

    @Test func `who drains is alive and not ready`() {
        let endpoint = HealthEndpoint { HealthReport(isDraining: true) }
        #expect(endpoint.live(probe).status == 200)
        #expect(endpoint.startup(probe).status == 200)
        let response = endpoint.ready(probe)
        #expect(response.status == 503)
        #expect(text(response) == "[-] draining: the server is going down\n")
    }

    @Test func `a broken store is named, and the process is alive all the same`() {
        let endpoint = HealthEndpoint { HealthReport(storeProblem: "no space left") }
        #expect(endpoint.live(probe).status == 200)
        #expect(endpoint.ready(probe).status == 503)
        #expect(text(endpoint.ready(probe)) == "[-] store: no space left\n")
    }

    @Test func `before recovery is done nothing but the process is up`() {
        let endpoint = HealthEndpoint { HealthReport(isStarted: false) }
        #expect(endpoint.live(probe).status == 200)
        #expect(endpoint.ready(probe).status == 503)
        #expect(endpoint.startup(probe).status == 503)
    }

    @Test func `asked for all, each check has its line`() {
        let endpoint = HealthEndpoint {
            HealthReport(
                isDraining: true,
                warming: WarmingProgress(
                    doneCount: 1, totalCount: 3, remainingMilliseconds: 2_500))
        }
        #expect(
            text(endpoint.ready(verbose))
                == "[+] loops\n[+] recovery\n[+] store\n[-] draining: the server is going down\n"
                + "[+] warming: 33%, about 2 s left\n")
        #expect(
            text(endpoint.startup(verbose))
                == "[+] recovery\n[+] warming: 33%, about 2 s left\nok\n")
    }

    @Test(
        arguments: [
            (0, 0, 100), (0, 3, 0), (2, 3, 66), (3, 3, 100), (9, 3, 100), (.max, .max, 100),
        ] as [(UInt64, UInt64, UInt64)])
    func `progress is a percentage`(done: UInt64, total: UInt64, percentage: UInt64) {
        #expect(WarmingProgress(doneCount: done, totalCount: total).percentage == percentage)
    }
}
