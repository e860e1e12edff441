package import HTTP

/// Carries notifications to an app's server as Apple does: it posts them, and the status is the
/// answer. Any thread; blocking.
package final class StandInDelivery: Sendable {
    private let client: HTTPClient

    /// A carrier; it connects to nobody yet.
    ///
    /// - Throws: `HTTPError` when the library refuses.
    package init() throws(HTTPError) {
        client = try HTTPClient(options: HTTPClientOptions(userAgent: "stand-in"))
    }

    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: As `SignedFixtures.body` makes it, or anything else.
    ///   - url: Where App Store Connect says that the server listens.
    /// - Returns: The status, and the body of the answer as text.
    /// - Throws: `HTTPError` when nobody answers.
    package func post(
        _ body: [UInt8], to url: String
    ) throws(HTTPError) -> (status: Int, text: String) {
        let response = try client.send(
            HTTPRequest(
                method: "POST", target: url,
                fields: [HTTPField("Content-Type", "application/json")], body: body))
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }
}
