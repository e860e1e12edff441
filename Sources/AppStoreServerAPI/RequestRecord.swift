package import Entitlements

/// What became of one request, for metrics: no id, no token.
package struct RequestRecord: Hashable, Sendable {
    /// How a response is counted.
    package enum StatusClass: String, Hashable, CaseIterable, Sendable {
        /// 200 to 299.
        case success = "2xx"
        /// 300 to 399.
        case redirection = "3xx"
        /// 400 to 499, but for 401 and 429.
        case refused = "4xx"
        /// 401.
        case unauthorized = "401"
        /// 429.
        case throttled = "429"
        /// 500 and above.
        case failed = "5xx"
        /// No response.
        case unreachable = "none"

        init(status: Int) {
            self =
                switch status {
                case 401: .unauthorized
                case 429: .throttled
                case ..<300: .success
                case ..<400: .redirection
                case ..<500: .refused
                default: .failed
                }
        }
    }

    /// What was asked.
    package var endpoint: AppStoreEndpoint
    /// Of which world.
    package var environment: AppEnvironment
    /// How it was answered.
    package var statusClass: StatusClass
    /// From sending to the whole response.
    package var durationMilliseconds: Int64
    /// How long it had waited before for our budget or Apple's 429.
    package var throttledMilliseconds: Int64
}
