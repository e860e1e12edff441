internal import CMessages
internal import CProtobufC

// Field by field; see `FieldExchange`.

extension Message.ListCustomersRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ListCustomersRequest>) {
        unsafe entitled__v1__list_customers_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ListCustomersRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.number(&pageSize, &c.pointee.page_size)
        unsafe exchange.number(&changedSinceRevision, &c.pointee.changed_since_revision)
    }
}

extension Message.CustomerSummary: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CustomerSummary>) {
        unsafe entitled__v1__customer_summary__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CustomerSummary>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        unsafe exchange.number(&transactions, &c.pointee.transactions)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.ListCustomersResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ListCustomersResponse>) {
        unsafe entitled__v1__list_customers_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ListCustomersResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&customers, &c.pointee.n_customers, &c.pointee.customers)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(&customersTotal, &c.pointee.customers_total)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.GetFamilyRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetFamilyRequest>) {
        unsafe entitled__v1__get_family_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetFamilyRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        try unsafe exchange.text(&householdID, &c.pointee.household_id)
        try unsafe exchange.message(&scope, &c.pointee.scope)
    }
}

extension Message.FamilyCopy: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__FamilyCopy>) {
        unsafe entitled__v1__family_copy__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__FamilyCopy>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        unsafe exchange.enumeration(&ownership, &c.pointee.ownership)
        unsafe exchange.flag(&granted, &c.pointee.granted)
        unsafe exchange.enumeration(&reason, &c.pointee.reason)
        unsafe exchange.number(&revokedAtMilliseconds, &c.pointee.revoked_at_ms)
    }
}

extension Message.FamilyMember: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__FamilyMember>) {
        unsafe entitled__v1__family_member__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__FamilyMember>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.messages(&copies, &c.pointee.n_copies, &c.pointee.copies)
    }
}

extension Message.MatchedFamily: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__MatchedFamily>) {
        unsafe entitled__v1__matched_family__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__MatchedFamily>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        unsafe exchange.number(&purchaseDateMilliseconds, &c.pointee.purchase_date_ms)
        unsafe exchange.number(&expiresDateMilliseconds, &c.pointee.expires_date_ms)
        unsafe exchange.enumeration(&confidence, &c.pointee.confidence)
        try unsafe exchange.messages(&copies, &c.pointee.n_copies, &c.pointee.copies)
        try unsafe exchange.text(&note, &c.pointee.note)
    }
}

extension Message.GetFamilyResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetFamilyResponse>) {
        unsafe entitled__v1__get_family_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetFamilyResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&householdID, &c.pointee.household_id)
        try unsafe exchange.messages(&members, &c.pointee.n_members, &c.pointee.members)
        try unsafe exchange.messages(&matched, &c.pointee.n_matched, &c.pointee.matched)
        try unsafe exchange.texts(&warnings, &c.pointee.n_warnings, &c.pointee.warnings)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.AuditAccessRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__AuditAccessRequest>) {
        unsafe entitled__v1__audit_access_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__AuditAccessRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.number(&pageSize, &c.pointee.page_size)
    }
}

extension Message.AccessFinding: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__AccessFinding>) {
        unsafe entitled__v1__access_finding__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__AccessFinding>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&copy, &c.pointee.copy)
        try unsafe exchange.message(&purchase, &c.pointee.purchase)
        unsafe exchange.enumeration(&confidence, &c.pointee.confidence)
        unsafe exchange.number(&grantedUntilMilliseconds, &c.pointee.granted_until_ms)
        unsafe exchange.number(&refreshedAtMilliseconds, &c.pointee.refreshed_at_ms)
        unsafe exchange.flag(&refreshQueued, &c.pointee.refresh_queued)
        try unsafe exchange.text(&explanation, &c.pointee.explanation)
    }
}

extension Message.AuditAccessResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__AuditAccessResponse>) {
        unsafe entitled__v1__audit_access_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__AuditAccessResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&findings, &c.pointee.n_findings, &c.pointee.findings)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.ListRefundsRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ListRefundsRequest>) {
        unsafe entitled__v1__list_refunds_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ListRefundsRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.message(&scope, &c.pointee.scope)
        unsafe exchange.number(&fromMilliseconds, &c.pointee.from_ms)
        unsafe exchange.number(&toMilliseconds, &c.pointee.to_ms)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.number(&pageSize, &c.pointee.page_size)
    }
}

extension Message.PersonUse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__PersonUse>) {
        unsafe entitled__v1__person_use__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__PersonUse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        unsafe exchange.enumeration(&ownership, &c.pointee.ownership)
        unsafe exchange.enumeration(&confidence, &c.pointee.confidence)
        unsafe exchange.number(&days, &c.pointee.days)
        unsafe exchange.number(&checks, &c.pointee.checks)
        unsafe exchange.number(&units, &c.pointee.units)
        unsafe exchange.number(&costMicros, &c.pointee.cost_micros)
        unsafe exchange.number(&leakedDays, &c.pointee.leaked_days)
        unsafe exchange.number(&leakedChecks, &c.pointee.leaked_checks)
        unsafe exchange.number(&leakedUnits, &c.pointee.leaked_units)
        unsafe exchange.number(&leakedCostMicros, &c.pointee.leaked_cost_micros)
        unsafe exchange.number(&leakedPeriods, &c.pointee.leaked_periods)
        unsafe exchange.number(&accessEndedAtMilliseconds, &c.pointee.access_ended_at_ms)
    }
}

extension Message.RefundRecord: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__RefundRecord>) {
        unsafe entitled__v1__refund_record__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__RefundRecord>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        unsafe exchange.number(&purchaseDateMilliseconds, &c.pointee.purchase_date_ms)
        unsafe exchange.number(&refundedAtMilliseconds, &c.pointee.refunded_at_ms)
        unsafe exchange.number(&learnedAtMilliseconds, &c.pointee.learned_at_ms)
        unsafe exchange.number(&priceMilliunits, &c.pointee.price_milliunits)
        try unsafe exchange.text(&currency, &c.pointee.currency)
        unsafe exchange.number(&percentageMilliunits, &c.pointee.percentage_milliunits)
        unsafe exchange.number(&refundedMilliunits, &c.pointee.refunded_milliunits)
        try unsafe exchange.messages(&people, &c.pointee.n_people, &c.pointee.people)
        unsafe exchange.flag(&purchaseUnknown, &c.pointee.purchase_unknown)
    }
}

extension Message.ListRefundsResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__ListRefundsResponse>) {
        unsafe entitled__v1__list_refunds_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__ListRefundsResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&refunds, &c.pointee.n_refunds, &c.pointee.refunds)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}
