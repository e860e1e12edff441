internal import Wire

extension ItemProblem {
    init(_ message: Message.ItemProblem) {
        reason = message.reason.description
        self.message = message.message.description
    }
}

extension BackfilledPage {
    init(_ message: Message.BackfillNotificationsResponse) {
        notificationCount = Int(message.notificationsRead)
        recovered = message.recovered.map { NotificationRecord($0) }
        changes = message.changes.map { AccessChange($0) }
        problems = message.problems.map { ItemProblem($0) }
        nextPageToken = message.nextPageToken.description
        revision = message.revision
    }
}

extension TestNotification {
    init(_ message: Message.TestNotificationResponse) {
        token = message.token.description
        attempts = message.attempts.map {
            Attempt(atMilliseconds: $0.atMilliseconds, result: $0.result.description)
        }
        isReceived = message.received
    }
}

extension Reconciliation {
    init(_ message: Message.GetReconciliationResponse) {
        isAppStoreAPIConfigured = message.appStoreAPIConfigured
        queuedCount = message.queued
        refreshes = message.refreshes.map { QueuedRefresh($0) }
        nextPageToken = message.nextPageToken.description
        notificationsCompleteUntilMilliseconds = AccessAnswer.instant(
            message.notificationsCompleteUntilMilliseconds)
        sweepFinishedAtMilliseconds = AccessAnswer.instant(message.sweepFinishedAtMilliseconds)
        succeededCount = message.refreshesSucceeded
        failedCount = message.refreshesFailed
        if !message.lastFailureReason.isEmpty {
            lastFailure = Failure(
                atMilliseconds: message.lastFailureAtMilliseconds,
                reason: message.lastFailureReason.description,
                message: message.lastFailureMessage.description)
        }
    }
}

extension QueuedRefresh {
    init(_ message: Message.QueuedRefresh) {
        customerID = message.customerID.description
        trigger = message.trigger.description
        queuedAtMilliseconds = message.queuedAtMilliseconds
        notBeforeMilliseconds = message.notBeforeMilliseconds
        attemptCount = Int(message.attempts)
        lastReason = message.lastReason.description
        lastMessage = message.lastMessage.description
    }
}
