internal import HTTP

/// What the App Store Server API offers, as far as the stand-in goes.
package enum StandInEndpoint: String, Hashable, CaseIterable, Sendable {
    case transactionHistory = "/inApps/v2/history/"
    case subscriptionStatuses = "/inApps/v1/subscriptions/"
    case appTransactionInfo = "/inApps/v1/transactions/appTransactions/"
    case transactionInfo = "/inApps/v1/transactions/"
    case refundHistory = "/inApps/v2/refund/lookup/"
    case notificationHistory = "/inApps/v1/notifications/history"
    case testNotificationStatus = "/inApps/v1/notifications/test/"
    case testNotification = "/inApps/v1/notifications/test"
}

/// A request taken apart.
struct StandInRoute {
    let endpoint: StandInEndpoint?
    let environment: StandInEnvironment
    /// The id in the path; empty without one.
    let id: String
    let query: [HTTPField]
    let bodyText: String

    init(_ request: HTTPRequest) {
        var path = request.target
        let sandbox = "/sandbox"
        environment = path.hasPrefix(sandbox + "/") ? .sandbox : .production
        if environment == .sandbox { path.removeFirst(sandbox.count) }
        // The longer of two prefixes stands first in the list.
        let found = StandInEndpoint.allCases.first { endpoint in
            let isPrefix = endpoint.rawValue.hasSuffix("/")
            return isPrefix
                ? path.hasPrefix(endpoint.rawValue) && path.count > endpoint.rawValue.count
                : path == endpoint.rawValue
        }
        let wanted =
            switch found {
            case .notificationHistory, .testNotification: "POST"
            default: "GET"
            }
        endpoint = request.method == wanted ? found : nil
        id = found.map { String(path.dropFirst($0.rawValue.count)) } ?? ""
        query = request.query
        bodyText = String(decoding: request.body, as: UTF8.self)
    }

    /// Every value of a query item that may be given several times.
    func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
}
