import Service

extension LogRecord {
    /// The line of what an operator must see of the service; never a payload.
    init(_ notice: ServiceNotice) {
        switch notice {
        case .refused(let refusal):
            self.init(
                level: .warn, message: "refused: \(refusal.reason.rawValue)",
                fields: [.init("detail", refusal.message)])
        case .unknownNotification(let type, let subtype):
            self.init(
                level: .warn, message: notice.message,
                fields: [.init("type", type), .init("subtype", subtype)])
        case .missingDuration(let productID):
            self.init(
                level: .warn, message: notice.message, fields: [.init("product", productID)])
        case .incompleteTransaction(let transactionID, let productID):
            self.init(
                level: .warn, message: notice.message,
                fields: [.init("transaction", transactionID), .init("product", productID)])
        case .converting(let count, _):
            self.init(
                level: .info, message: notice.message, fields: [.init("snapshots", count)])
        case .forgotten(let number, _):
            self.init(level: .info, message: notice.message, fields: [.init("number", number)])
        case .notErased(let message):
            self.init(level: .warn, message: notice.message, fields: [.init("detail", message)])
        }
    }
}
