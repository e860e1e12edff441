import HTTP
import Testing

@Suite struct HTTPErrorTests {
    @Test func `trying again may help where the network was at fault`() {
        let helped: [HTTPError.Kind] = [.resolve, .connect, .timedOut, .closed, .tls]
        for kind in helped {
            #expect(HTTPError(kind: kind, server: "s", detail: "").mayRetryHelp)
        }
        let final: [HTTPError.Kind] = [
            .protocolViolation, .tooLarge, .cancelled, .invalidRequest, .library,
        ]
        for kind in final {
            #expect(!HTTPError(kind: kind, server: "s", detail: "").mayRetryHelp)
        }
        let refused = HTTPError(kind: .tls, server: "s", detail: "", isCertificateRefused: true)
        #expect(!refused.mayRetryHelp)
    }

    @Test func `the text says who, what and what to do`() {
        let error = HTTPError(kind: .tls, server: "https://a:1", detail: "expired")
        #expect(
            "\(error)"
                == "no secure connection to https://a:1: expired; check the certificate, the "
                + "trusted roots and this machine's clock")
        let timeOut = HTTPError(kind: .timedOut, server: "https://a", detail: "")
        #expect("\(timeOut)" == "https://a did not answer in time")
    }
}
