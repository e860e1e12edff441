internal import AppStore
internal import Entitlements
internal import HTTP

/// What a response of Apple's servers means, by its status and error code.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/error-codes
enum AppStoreAnswer {
    /// A JSON object with what was asked for.
    case object(JSONObject)
    /// 401: the token was not accepted.
    case unauthorized
    /// 429.
    case throttled
    /// Asking again, soon, may help.
    case retryable(String)
    /// Asking again soon does not help; later it may.
    case failed(String)
    /// Asking again does not help.
    case final(AppStoreServerError)

    /// Reads a response.
    init(_ response: HTTPResponse, to endpoint: AppStoreEndpoint) {
        switch response.status {
        case 200...299:
            do throws(JSONError) {
                self = .object(try JSONObject(response.body))
            } catch {
                self = .final(
                    .malformed(
                        "\(endpoint.title): no JSON object in \(response.body.count) bytes; "
                            + "expected \(error.expected) at byte \(error.offset)"))
            }
        case 401: self = .unauthorized
        case 429: self = .throttled
        case 400...599: self = Self.refusal(response, endpoint)
        default:
            self = .final(
                .malformed(
                    "\(endpoint.title): answered \(response.status), which Apple does not; check "
                        + "the base URL and proxies"))
        }
    }

    private static func refusal(
        _ response: HTTPResponse, _ endpoint: AppStoreEndpoint
    ) -> AppStoreAnswer {
        let status = response.status
        let body = try? JSONObject(response.body)
        let code = body?.integer("errorCode")
        let said = printable(body?.string("errorMessage") ?? "")
        let text = [
            "\(endpoint.title): answered \(status)", code.map { " \($0)" } ?? "",
            said.isEmpty ? "" : ", \(said)",
        ].joined()
        if let code, ErrorCode.retryable.contains(code) { return .retryable(text) }
        if code == ErrorCode.rateLimitExceeded { return .throttled }
        if code == ErrorCode.internalError { return .failed(text) }
        if status >= 500 || status == 408 || status == 425 { return .retryable(text) }
        guard let code else {
            // A proxy, or another server altogether: Apple gives a code with all of these.
            return .final(
                .malformed("\(text) without an error code; check the base URL and proxies"))
        }
        return .final(
            status == 404
                ? .notFound(code: code, message: text) : .rejected(code: code, message: text))
    }
}

/// The error codes that decide something here.
enum ErrorCode {
    /// The transaction id is malformed.
    static let invalidTransactionID: Int64 = 4_000_006
    /// An appTransactionId where only a transaction's id is taken.
    static let appTransactionIDNotSupported: Int64 = 4_000_048
    /// No transaction of this id in this app and environment.
    static let transactionIDNotFound: Int64 = 4_040_010
    /// No such Apple Account, or none with purchases in this app.
    static let accountNotFound: Int64 = 4_040_001
    /// No chain of this id.
    static let originalTransactionIDNotFound: Int64 = 4_040_005
    /// 429 says so by its status as well.
    static let rateLimitExceeded: Int64 = 4_290_000
    /// An internal error that Apple does not call retryable.
    static let internalError: Int64 = 5_000_000
    /// What is wrong with the id, not with the app or the request.
    static let aboutID: Set<Int64> = [
        invalidTransactionID, appTransactionIDNotSupported, accountNotFound,
        originalTransactionIDNotFound, transactionIDNotFound,
    ]
    /// Account, app or original id "not found, try again", and an internal error of that kind.
    static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
}

extension AppStoreServerError {
    /// Whether it is about the id that was asked for, and not about the app, the token or the
    /// network: another id may do better.
    var isAboutID: Bool {
        switch self {
        case .notFound(let code, _), .rejected(let code, _): ErrorCode.aboutID.contains(code)
        case .throttled, .unauthorized, .unavailable, .malformed: false
        }
    }
}
