internal import CMessages
internal import CProtobufC

// Field by field; see `FieldExchange`.

extension Message.CreateBackupRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CreateBackupRequest>) {
        unsafe entitled__v1__create_backup_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CreateBackupRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&name, &c.pointee.name)
        unsafe exchange.flag(&followUp, &c.pointee.follow_up)
    }
}

extension Message.CreateBackupResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CreateBackupResponse>) {
        unsafe entitled__v1__create_backup_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CreateBackupResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&name, &c.pointee.name)
        try unsafe exchange.text(&path, &c.pointee.path)
        unsafe exchange.flag(&complete, &c.pointee.complete)
        unsafe exchange.number(&revision, &c.pointee.revision)
        unsafe exchange.number(&files, &c.pointee.files)
        unsafe exchange.number(&bytes, &c.pointee.bytes)
        unsafe exchange.number(&bytesDone, &c.pointee.bytes_done)
        unsafe exchange.number(&createdAtMilliseconds, &c.pointee.created_at_ms)
        unsafe exchange.number(&durationMilliseconds, &c.pointee.duration_ms)
    }
}

extension Message.ImportTransactionsRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ImportTransactionsRequest>)
    {
        unsafe entitled__v1__import_transactions_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ImportTransactionsRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.messages(&rows, &c.pointee.n_rows, &c.pointee.rows)
        unsafe exchange.flag(&dryRun, &c.pointee.dry_run)
    }
}

extension Message.ImportedTransaction: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ImportedTransaction>) {
        unsafe entitled__v1__imported_transaction__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ImportedTransaction>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        try unsafe exchange.text(&signedTransaction, &c.pointee.signed_transaction)
        try unsafe exchange.text(&signedRenewal, &c.pointee.signed_renewal)
        unsafe exchange.number(&datelessRevokeMilliseconds, &c.pointee.dateless_revoke_ms)
        unsafe exchange.number(&grantNotificationMilliseconds, &c.pointee.grant_notification_ms)
        unsafe exchange.number(&activeStatusMilliseconds, &c.pointee.active_status_ms)
        unsafe exchange.number(&datedCopyMilliseconds, &c.pointee.dated_copy_ms)
        unsafe exchange.flag(&chainLinked, &c.pointee.chain_linked)
    }
}

extension Message.ImportTransactionsResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ImportTransactionsResponse>)
    {
        unsafe entitled__v1__import_transactions_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ImportTransactionsResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&problems, &c.pointee.n_problems, &c.pointee.problems)
        unsafe exchange.number(&learnt, &c.pointee.learnt)
        try unsafe exchange.messages(&changes, &c.pointee.n_changes, &c.pointee.changes)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.ImportProblem: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ImportProblem>) {
        unsafe entitled__v1__import_problem__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ImportProblem>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.number(&position, &c.pointee.position)
        unsafe exchange.enumeration(&status, &c.pointee.status)
        try unsafe exchange.text(&reason, &c.pointee.reason)
        try unsafe exchange.text(&message, &c.pointee.message)
        unsafe exchange.flag(&takenIn, &c.pointee.taken_in)
    }
}

extension Message.CustomerLink: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CustomerLink>) {
        unsafe entitled__v1__customer_link__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CustomerLink>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&identity, &c.pointee.identity)
        unsafe exchange.number(&movedAtRevision, &c.pointee.moved_at_revision)
    }
}

extension Message.ForgetCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ForgetCustomerRequest>) {
        unsafe entitled__v1__forget_customer_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ForgetCustomerRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        try unsafe exchange.message(&scope, &c.pointee.scope)
        unsafe exchange.flag(&dryRun, &c.pointee.dry_run)
        unsafe exchange.number(&followUpNumber, &c.pointee.follow_up_number)
    }
}

extension Message.ForgetCustomerResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ForgetCustomerResponse>) {
        unsafe entitled__v1__forget_customer_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ForgetCustomerResponse>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.number(&customerNumber, &c.pointee.customer_number)
        try unsafe exchange.texts(&names, &c.pointee.n_names, &c.pointee.names)
        unsafe exchange.number(&namesTotal, &c.pointee.names_total)
        unsafe exchange.number(&transactions, &c.pointee.transactions)
        unsafe exchange.number(&payloads, &c.pointee.payloads)
        unsafe exchange.number(&auditEntries, &c.pointee.audit_entries)
        unsafe exchange.flag(&inHousehold, &c.pointee.in_household)
        unsafe exchange.flag(&wasQueued, &c.pointee.was_queued)
        unsafe exchange.flag(&erased, &c.pointee.erased)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}
