import AppStore

/// Bodies that nobody signed: V1 notifications, and what was verified when it came.
enum V1Fuzz {
    private static let secret = Array("secret".utf8)

    /// The body; see `SigningDesk.fill`.
    static func fuzz(_ input: [UInt8]) throws {
        let desk = try SigningDesk.shared.get()
        let body = desk.fill(input)
        let stored = StoredNotification(body: body)
        _ = (stored?.transaction, stored?.renewal)
        guard let event = try? desk.verifier.verifyNotification(body) else { return }
        guard case .unsigned(let notification) = event else {
            throw FuzzFinding("a body that nobody signed is taken for a signed one")
        }
        try expect(notification.payload == body, "a body is not the bytes that came")
        try expect(notification.digest.utf8.count == 64, "a digest of another length")
        var known: Set<[UInt8]> = []
        for id in notification.originalTransactionIDs {
            try expect(1...128 ~= id.utf8.count, "an identifier of \(id.utf8.count) bytes")
            try expect(known.insert(Array(id.utf8)).inserted, "a chain is named twice")
        }
        _ = notification.isAuthenticated(by: secret)
        _ = try? desk.verifier.scope(of: notification)
    }
}
