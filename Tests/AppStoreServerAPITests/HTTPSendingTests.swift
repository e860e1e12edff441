@testable import AppStoreServerAPI
import HTTP
import Testing

@Suite struct HTTPSendingTests {
    private func failure(_ kind: HTTPError.Kind, isCertificateRefused: Bool = false) -> SendFailure
    {
        SendFailure(
            HTTPError(
                kind: kind, server: "https://h", detail: "why",
                isCertificateRefused: isCertificateRefused))
    }

    @Test func `an error of the network may pass, a refused certificate will not`() {
        for kind in [HTTPError.Kind.resolve, .connect, .timedOut, .closed, .tls] {
            guard case .unreachable(let message, mayRetryHelp: true) = failure(kind) else {
                Issue.record("\(kind)")
                continue
            }
            #expect(message.contains("why"))
        }
        guard
            case .unreachable(_, mayRetryHelp: false) = failure(.tls, isCertificateRefused: true)
        else {
            Issue.record("a certificate that is not trusted")
            return
        }
    }

    @Test func `an answer that cannot be used is not asked for again, a stop is a stop`() {
        for kind in [HTTPError.Kind.protocolViolation, .tooLarge] {
            guard case .unusable = failure(kind) else {
                Issue.record("\(kind)")
                continue
            }
        }
        #expect(failure(.cancelled) == .cancelled)
    }

    @Test func `nobody there is an error within the time that was given`() throws {
        let client = try HTTPClient(options: HTTPClientOptions(userAgent: "entitled/test"))
        let clock = TestClock()
        let surroundings = AppStoreServerSurroundings(
            client: client, now: { clock.now }, sleep: { clock.sleep($0) })
        // Port 1 of this machine: nothing listens there.
        #expect(throws: SendFailure.self) {
            try surroundings.send(HTTPRequest(target: "http://127.0.0.1:1/x"), 5_000)
        }
        client.cancelAll()
        #expect(throws: SendFailure.cancelled) {
            try surroundings.send(HTTPRequest(target: "http://127.0.0.1:1/x"), 5_000)
        }
    }
}
