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
