internal import CMessages
internal import CProtobufC

// Field by field; see `FieldExchange`.

extension Message.ItemProblem: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ItemProblem>) {
        unsafe entitled__v1__item_problem__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ItemProblem>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&reason, &c.pointee.reason)
        try unsafe exchange.text(&message, &c.pointee.message)
    }
}

extension Message.QueuedRefresh: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__QueuedRefresh>) {
        unsafe entitled__v1__queued_refresh__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__QueuedRefresh>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.text(&trigger, &c.pointee.trigger)
        unsafe exchange.number(&queuedAtMilliseconds, &c.pointee.queued_at_ms)
        unsafe exchange.number(&notBeforeMilliseconds, &c.pointee.not_before_ms)
        unsafe exchange.number(&attempts, &c.pointee.attempts)
        try unsafe exchange.text(&lastReason, &c.pointee.last_reason)
        try unsafe exchange.text(&lastMessage, &c.pointee.last_message)
    }
}

extension Message.BackfillNotificationsRequest: @unsafe CRepresented {
    static func initialize(
        _ target: UnsafeMutablePointer<Entitled__V1__BackfillNotificationsRequest>
    ) {
        unsafe entitled__v1__backfill_notifications_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__BackfillNotificationsRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        unsafe exchange.number(&fromMilliseconds, &c.pointee.from_ms)
        unsafe exchange.number(&toMilliseconds, &c.pointee.to_ms)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.flag(&onlyFailures, &c.pointee.only_failures)
        unsafe exchange.flag(&dryRun, &c.pointee.dry_run)
    }
}

extension Message.BackfillNotificationsResponse: @unsafe CRepresented {
    static func initialize(
        _ target: UnsafeMutablePointer<Entitled__V1__BackfillNotificationsResponse>
    ) {
        unsafe entitled__v1__backfill_notifications_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__BackfillNotificationsResponse>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.number(&notificationsRead, &c.pointee.notifications_read)
        try unsafe exchange.messages(&recovered, &c.pointee.n_recovered, &c.pointee.recovered)
        try unsafe exchange.messages(&changes, &c.pointee.n_changes, &c.pointee.changes)
        try unsafe exchange.messages(&problems, &c.pointee.n_problems, &c.pointee.problems)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.TestNotificationRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__TestNotificationRequest>) {
        unsafe entitled__v1__test_notification_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__TestNotificationRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.text(&token, &c.pointee.token)
    }
}

extension Message.SendAttempt: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__SendAttempt>) {
        unsafe entitled__v1__send_attempt__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__SendAttempt>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.number(&atMilliseconds, &c.pointee.at_ms)
        try unsafe exchange.text(&result, &c.pointee.result)
    }
}

extension Message.TestNotificationResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__TestNotificationResponse>) {
        unsafe entitled__v1__test_notification_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__TestNotificationResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&token, &c.pointee.token)
        try unsafe exchange.messages(&attempts, &c.pointee.n_attempts, &c.pointee.attempts)
        unsafe exchange.flag(&received, &c.pointee.received)
    }
}

extension Message.GetReconciliationRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetReconciliationRequest>) {
        unsafe entitled__v1__get_reconciliation_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetReconciliationRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.number(&pageSize, &c.pointee.page_size)
    }
}

extension Message.GetReconciliationResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetReconciliationResponse>)
    {
        unsafe entitled__v1__get_reconciliation_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetReconciliationResponse>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.flag(&appStoreAPIConfigured, &c.pointee.app_store_api_configured)
        unsafe exchange.number(&queued, &c.pointee.queued)
        try unsafe exchange.messages(&refreshes, &c.pointee.n_refreshes, &c.pointee.refreshes)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(
            &notificationsCompleteUntilMilliseconds, &c.pointee.notifications_complete_until_ms)
        unsafe exchange.number(&sweepFinishedAtMilliseconds, &c.pointee.sweep_finished_at_ms)
        unsafe exchange.number(&refreshesSucceeded, &c.pointee.refreshes_succeeded)
        unsafe exchange.number(&refreshesFailed, &c.pointee.refreshes_failed)
        try unsafe exchange.text(&lastFailureReason, &c.pointee.last_failure_reason)
        try unsafe exchange.text(&lastFailureMessage, &c.pointee.last_failure_message)
        unsafe exchange.number(&lastFailureAtMilliseconds, &c.pointee.last_failure_at_ms)
    }
}
