/// What can be asked of Apple's servers; the raw values are the names in metrics.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi
package enum AppStoreEndpoint: String, Hashable, CaseIterable, Sendable {
    /// Get Transaction History, version 2.
    case transactionHistory = "transaction_history"
    /// Get All Subscription Statuses.
    case subscriptionStatuses = "subscription_statuses"
    /// Get Transaction Info.
    case transactionInfo = "transaction_info"
    /// Get Refund History, version 2.
    case refundHistory = "refund_history"
    /// Get Notification History.
    case notificationHistory = "notification_history"
    /// Get App Transaction Info.
    case appTransactionInfo = "app_transaction_info"
    /// Request a Test Notification.
    case testNotification = "test_notification"
    /// Get Test Notification Status.
    case testNotificationStatus = "test_notification_status"

    /// Apple's limit of requests per second, for one app in Production; a tenth in Sandbox.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    package var publishedRatePerSecond: Double {
        switch self {
        case .transactionHistory, .subscriptionStatuses, .transactionInfo, .notificationHistory,
            .appTransactionInfo:
            50
        case .refundHistory: 10
        case .testNotification, .testNotificationStatus: 1
        }
    }

    /// Apple's name of it, for messages.
    var title: String {
        switch self {
        case .transactionHistory: "Get Transaction History"
        case .subscriptionStatuses: "Get All Subscription Statuses"
        case .transactionInfo: "Get Transaction Info"
        case .refundHistory: "Get Refund History"
        case .notificationHistory: "Get Notification History"
        case .appTransactionInfo: "Get App Transaction Info"
        case .testNotification: "Request a Test Notification"
        case .testNotificationStatus: "Get Test Notification Status"
        }
    }

    /// GET, or POST where Apple wants a body or makes something.
    var method: String {
        switch self {
        case .notificationHistory, .testNotification: "POST"
        default: "GET"
        }
    }

    /// The path, up to the id where there is one.
    var pathPrefix: String {
        switch self {
        case .transactionHistory: "/inApps/v2/history/"
        case .subscriptionStatuses: "/inApps/v1/subscriptions/"
        case .transactionInfo: "/inApps/v1/transactions/"
        case .refundHistory: "/inApps/v2/refund/lookup/"
        case .notificationHistory: "/inApps/v1/notifications/history"
        case .appTransactionInfo: "/inApps/v1/transactions/appTransactions/"
        case .testNotification: "/inApps/v1/notifications/test"
        case .testNotificationStatus: "/inApps/v1/notifications/test/"
        }
    }
}
