@testable import AppStoreServerAPI
import HTTP
import TestSupport
import Testing

@Suite struct AppStoreAnswerTests {
    /// What an answer comes to, without its text.
    enum Kind: Equatable {
        case object, unauthorized, throttled, retryable, failed
        case notFound(Int64)
        case rejected(Int64)
        case malformed
    }

    private func kind(_ response: HTTPResponse) -> Kind? {
        switch AppStoreAnswer(response, to: .transactionHistory) {
        case .object: .object
        case .unauthorized: .unauthorized
        case .throttled: .throttled
        case .retryable: .retryable
        case .failed: .failed
        case .final(.notFound(let code, _)): .notFound(code)
        case .final(.rejected(let code, _)): .rejected(code)
        case .final(.malformed): .malformed
        case .final: nil
        }
    }

    private static let codes: [(Int64, Kind)] =
        [
            4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_008, 4_000_012, 4_000_013, 4_000_014,
            4_000_015, 4_000_017, 4_000_019, 4_000_020, 4_000_048, 4_030_007,
        ].map { ($0, .rejected($0)) }
        + [
            4_040_001, 4_040_003, 4_040_005, 4_040_007, 4_040_008, 4_040_010, 4_040_019,
        ].map { ($0, .notFound($0)) }
        + [4_040_002, 4_040_004, 4_040_006, 5_000_001, 5_030_000].map {
            ($0, .retryable)
        }
        + [(4_290_000, .throttled), (5_000_000, .failed)]

    @Test(arguments: codes)
    func `an error code means what Apple says of it`(code: Int64, meaning: Kind) {
        #expect(kind(refusal(code)) == meaning)
    }

    private static let statuses: [(Int, Kind)] = [
        (200, .malformed), (204, .malformed), (301, .malformed), (304, .malformed),
        (400, .malformed), (401, .unauthorized), (403, .malformed), (404, .malformed),
        (408, .retryable), (429, .throttled), (500, .retryable), (502, .retryable),
        (503, .retryable), (504, .retryable), (100, .malformed), (999, .malformed), (0, .malformed),
    ]

    @Test(arguments: statuses)
    func `a status without JSON is never taken for Apple's "not found"`(
        status: Int, meaning: Kind
    ) {
        for body in [
            "", "<html><h1>404</h1></html>", "[]", "\"x\"", "{\"errorCode\":", "\u{FEFF}{}",
        ] {
            #expect(kind(HTTPResponse(status: status, body: Array(body.utf8))) == meaning)
        }
    }

    @Test(arguments: [
        "{\"errorCode\":\"4040010\"}", "{\"errorCode\":4040010.0,\"errorMessage\":7}",
        "{\"errorCode\":1,\"errorCode\":4040010}", "{\"errorCode\":4040010,\"errorMessage\":null}",
    ])
    func `an odd error is read as far as it goes`(body: String) {
        #expect(kind(HTTPResponse(status: 404, body: Array(body.utf8))) == .notFound(4_040_010))
    }

    @Test(arguments: [
        "{\"errorCode\":null}", "{\"errorCode\":99999999999999999999}", "{\"errorCode\":[4040010]}",
        "{}",
    ])
    func `an error without a code is no answer of Apple's`(body: String) {
        #expect(kind(HTTPResponse(status: 404, body: Array(body.utf8))) == .malformed)
    }

    @Test func `hostile bodies are refused, not crashed on`() {
        let deep = String(repeating: "{\"a\":", count: 100_000)
        let arrays = "{\"a\":" + String(repeating: "[", count: 100_000)
        let bodies: [[UInt8]] = [
            Array(deep.utf8), Array(arrays.utf8), [0xFF, 0xFE], [UInt8](repeating: 0, count: 1_000),
            Array("{\"a\":1e999999999}x".utf8), Array("{\"a\":\"\\ud800\"}".utf8),
        ]
        for body in bodies { #expect(kind(HTTPResponse(status: 200, body: body)) == .malformed) }
    }

    @Test func `a message that echoes a token does not carry it on`() {
        let token = "eyJhbGciOiJFUzI1NiJ9." + String(repeating: "A", count: 120)
        let body: FixtureJSON = ["errorCode": 4_000_006, "errorMessage": .string("bad \(token)")]
        let answer = AppStoreAnswer(
            HTTPResponse(status: 400, body: body.utf8), to: .transactionHistory)
        guard case .final(let error) = answer else {
            Issue.record("no error")
            return
        }
        #expect(error.message.contains("4000006") && !error.message.contains("AAAA"))
    }

    @Test func `only an error about the id lets another id be tried`() {
        let about: [AppStoreServerError] = [
            .notFound(code: 4_040_010, message: ""), .rejected(code: 4_000_006, message: ""),
            .rejected(code: 4_000_048, message: ""),
        ]
        let other: [AppStoreServerError] = [
            .rejected(code: 4_000_005, message: ""), .notFound(code: 4_040_003, message: ""),
            .malformed(""), .unauthorized(""),
            .throttled(until: .april8()), .unavailable(message: "", retryAt: .april8()),
        ]
        #expect(about.allSatisfy(\.isAboutID) && !other.contains(where: \.isAboutID))
    }
}
