package import HTTP

/// What a scripted request gets instead of, or around, the usual answer.
package struct StandInStep: Sendable {
    private let body: @Sendable (_ usual: () -> HTTPResponse) -> HTTPResponse

    /// A step.
    ///
    /// - Parameter body: Makes the response; `usual` makes the one that would have come.
    package init(_ body: @escaping @Sendable (_ usual: () -> HTTPResponse) -> HTTPResponse) {
        self.body = body
    }

    func answer(_ usual: () -> HTTPResponse) -> HTTPResponse { body(usual) }

    /// The usual answer.
    package static let usual = StandInStep { $0() }

    /// The usual answer, after something happened: a purchase is revoked between two pages.
    package static func after(_ event: @escaping @Sendable () -> Void) -> StandInStep {
        StandInStep { usual in
            event()
            return usual()
        }
    }

    /// The usual answer, and then something happens before it is sent: the caller waits.
    package static func slow(_ wait: @escaping @Sendable () -> Void) -> StandInStep {
        StandInStep { usual in
            let response = usual()
            wait()
            return response
        }
    }

    /// Exactly this.
    package static func response(_ response: HTTPResponse) -> StandInStep {
        StandInStep { _ in response }
    }

    /// 429 with any text as `Retry-After`; nil leaves the field out.
    package static func throttled(retryAfter: String?) -> StandInStep {
        response(
            .refusal(
                429, code: 4_290_000, "Rate limit exceeded.",
                fields: retryAfter.map { [HTTPField("Retry-After", $0)] } ?? []))
    }

    /// 429, as Apple writes it; `until` says at each request when the next one may come,
    /// milliseconds since 1970.
    package static func throttled(until: @escaping @Sendable () -> Int64) -> StandInStep {
        StandInStep { usual in throttled(retryAfter: String(until())).answer(usual) }
    }

    /// 401, as for a token that Apple does not accept.
    package static let unauthorized = response(.unauthorized())

    /// An error as Apple writes it; the first three digits of a code are its status.
    package static func refusal(code: Int64, _ message: String = "An error.") -> StandInStep {
        response(.refusal(Int(code / 10_000), code: code, message))
    }

    /// A status with a page for people, as proxies write it.
    package static func page(_ status: Int) -> StandInStep {
        response(
            HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", "text/html")],
                body: Array("<html><body><h1>\(status)</h1></body></html>".utf8)))
    }

    /// 200 with bytes that need not be JSON.
    package static func garbage(_ body: [UInt8]) -> StandInStep {
        response(HTTPResponse(status: 200, body: body))
    }

    /// The first half of the usual body.
    package static let cut = StandInStep { usual in
        var response = usual()
        response.body = Array(response.body.prefix(response.body.count / 2))
        return response
    }

    /// A page of a history, made by hand.
    package static func page(
        _ signedTransactions: [[UInt8]], revision: String, hasMore: Bool
    ) -> StandInStep {
        let items = signedTransactions.map {
            FixtureJSON.string(String(decoding: $0, as: UTF8.self))
        }
        return response(
            .json([
                "revision": .string(revision), "hasMore": .boolean(hasMore),
                "signedTransactions": .array(items),
            ]))
    }
}

extension HTTPResponse {
    /// 200 with JSON.
    static func json(_ body: FixtureJSON) -> HTTPResponse {
        HTTPResponse(
            status: 200, fields: [HTTPField("Content-Type", "application/json")], body: body.utf8)
    }

    /// An error as Apple writes it.
    static func refusal(
        _ status: Int, code: Int64, _ message: String, fields: [HTTPField] = []
    ) -> HTTPResponse {
        let body: FixtureJSON = ["errorCode": .integer(code), "errorMessage": .string(message)]
        return HTTPResponse(
            status: status, fields: [HTTPField("Content-Type", "application/json")] + fields,
            body: body.utf8)
    }

    /// What Apple answers to a token that it does not accept: no JSON.
    static func unauthorized() -> HTTPResponse {
        HTTPResponse(
            status: 401, fields: [HTTPField("Content-Type", "text/plain")],
            body: Array("Unauthenticated\n\nRequest ID: STANDIN.0.0\n".utf8))
    }
}
