import Entitlements
package import Storage

extension EntitlementService {
    /// Whether the notification of an event is stored; false for an event of another kind.
    ///
    /// Any thread; what is being committed meanwhile may be missed, and is a duplicate then.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    package func isStored(_ event: Event) throws(Refusal) -> Bool {
        guard case .notification(let notification, _) = event.content,
            let number = scopeNumbers[notification.scope]
        else { return false }
        do throws(StorageError) {
            let key = Key.notification(uuid: notification.notificationUUID, in: number)
            return try store.value(for: key, in: .notifications) != nil
        } catch {
            throw Refusal(error)
        }
    }
}

extension Event {
    /// Its notification as it would be stored, without what only the ledger can say: disposition
    /// and revision. nil for an event of another kind.
    package var notificationRecord: NotificationRecord? {
        guard case .notification(let notification, _) = content else { return nil }
        return NotificationRecord(
            notification: notification, receivedAt: receivedAt, disposition: .noEffect, revision: 0)
    }
}
