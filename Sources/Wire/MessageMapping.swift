internal import CMessages
internal import CProtobufC

// The messages that several calls share, to and from their C counterparts, field by field.

extension Message.CustomerRef {
    /// A copy of a C field; nil where it is absent or names nobody.
    init?(_ source: UnsafeMutablePointer<Entitled__V1__CustomerRef>?) {
        guard let fields = unsafe source?.pointee else { return nil }
        switch unsafe fields.id_case {
        case ENTITLED__V1__CUSTOMER_REF__ID_CUSTOMER_ID:
            self = unsafe .customerID(Text(fields.customer_id))
        case ENTITLED__V1__CUSTOMER_REF__ID_APP_ACCOUNT_TOKEN:
            self = unsafe .appAccountToken(Text(fields.app_account_token))
        case ENTITLED__V1__CUSTOMER_REF__ID_APP_TRANSACTION_ID:
            self = unsafe .appTransactionID(Text(fields.app_transaction_id))
        case ENTITLED__V1__CUSTOMER_REF__ID_ORIGINAL_TRANSACTION_ID:
            self = unsafe .originalTransactionID(Text(fields.original_transaction_id))
        default:
            return nil
        }
    }
}

extension MessageArena {
    /// A customer as a C field holds it; nil where there is none.
    func customerRef(
        _ reference: Message.CustomerRef?
    ) throws(WireError) -> UnsafeMutablePointer<Entitled__V1__CustomerRef>? {
        guard let reference else { return nil }
        let target = try unsafe allocate(Entitled__V1__CustomerRef.self, count: 1)
        unsafe entitled__v1__customer_ref__init(target)
        switch reference {
        case .customerID(let text):
            unsafe target.pointee.id_case = ENTITLED__V1__CUSTOMER_REF__ID_CUSTOMER_ID
            unsafe target.pointee.customer_id = try copy(text)
        case .appAccountToken(let text):
            unsafe target.pointee.id_case = ENTITLED__V1__CUSTOMER_REF__ID_APP_ACCOUNT_TOKEN
            unsafe target.pointee.app_account_token = try copy(text)
        case .appTransactionID(let text):
            unsafe target.pointee.id_case = ENTITLED__V1__CUSTOMER_REF__ID_APP_TRANSACTION_ID
            unsafe target.pointee.app_transaction_id = try copy(text)
        case .originalTransactionID(let text):
            unsafe target.pointee.id_case = ENTITLED__V1__CUSTOMER_REF__ID_ORIGINAL_TRANSACTION_ID
            unsafe target.pointee.original_transaction_id = try copy(text)
        }
        return unsafe target
    }
}

extension Message.Subject {
    /// A copy of the oneof of an unpacked check; nil where it says nothing.
    init?(_ fields: Entitled__V1__CheckAccessRequest) {
        switch unsafe fields.what_case {
        case ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_PRODUCT_ID:
            self = unsafe .product(Text(fields.product_id))
        case ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_ENTITLEMENT:
            self = unsafe .entitlement(Text(fields.entitlement))
        default:
            return nil
        }
    }

    /// Writes the oneof.
    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>, _ arena: MessageArena
    ) throws(WireError) {
        switch self {
        case .product(let text):
            unsafe target.pointee.what_case = ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_PRODUCT_ID
            unsafe target.pointee.product_id = try arena.copy(text)
        case .entitlement(let text):
            unsafe target.pointee.what_case = ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_ENTITLEMENT
            unsafe target.pointee.entitlement = try arena.copy(text)
        }
    }
}

// MARK: - Field by field

extension Message.CheckAccessRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>) {
        unsafe entitled__v1__check_access_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        try unsafe exchange.subject(&subject, c)
        unsafe exchange.number(&atMilliseconds, &c.pointee.at_ms)
        unsafe exchange.number(&minRevision, &c.pointee.min_revision)
        try unsafe exchange.message(&scope, &c.pointee.scope)
        unsafe exchange.number(&units, &c.pointee.units)
    }
}

extension Message.Scope: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Scope>) {
        unsafe entitled__v1__scope__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__Scope>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&bundleID, &c.pointee.bundle_id)
        unsafe exchange.enumeration(&environment, &c.pointee.environment)
    }
}

extension Message.Change: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Change>) {
        unsafe entitled__v1__change__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__Change>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        unsafe exchange.flag(&grantedBefore, &c.pointee.granted_before)
        unsafe exchange.flag(&grantedAfter, &c.pointee.granted_after)
        unsafe exchange.enumeration(&reason, &c.pointee.reason)
    }
}

extension Message.CheckAccessResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessResponse>) {
        unsafe entitled__v1__check_access_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CheckAccessResponse>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.flag(&granted, &c.pointee.granted)
        unsafe exchange.enumeration(&reason, &c.pointee.reason)
        unsafe exchange.enumeration(&ownership, &c.pointee.ownership)
        unsafe exchange.number(&validUntilMilliseconds, &c.pointee.valid_until_ms)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.Entitlement: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Entitlement>) {
        unsafe entitled__v1__entitlement__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__Entitlement>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        try unsafe exchange.texts(&names, &c.pointee.n_names, &c.pointee.names)
        unsafe exchange.flag(&granted, &c.pointee.granted)
        unsafe exchange.enumeration(&reason, &c.pointee.reason)
        unsafe exchange.enumeration(&ownership, &c.pointee.ownership)
        unsafe exchange.number(&validUntilMilliseconds, &c.pointee.valid_until_ms)
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        unsafe exchange.number(&revokedAtMilliseconds, &c.pointee.revoked_at_ms)
        unsafe exchange.flag(&paymentReversed, &c.pointee.payment_reversed)
        unsafe exchange.flag(&causeCertain, &c.pointee.cause_certain)
        unsafe exchange.enumeration(&familyConfidence, &c.pointee.family_confidence)
        try unsafe exchange.text(&familyTransactionID, &c.pointee.family_transaction_id)
    }
}

extension Message.TransactionRecord: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__TransactionRecord>) {
        unsafe entitled__v1__transaction_record__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__TransactionRecord>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        try unsafe exchange.text(&originalTransactionID, &c.pointee.original_transaction_id)
        try unsafe exchange.text(&productID, &c.pointee.product_id)
        try unsafe exchange.text(&type, &c.pointee.type)
        unsafe exchange.enumeration(&ownership, &c.pointee.ownership)
        unsafe exchange.number(&purchaseDateMilliseconds, &c.pointee.purchase_date_ms)
        unsafe exchange.number(&expiresDateMilliseconds, &c.pointee.expires_date_ms)
        unsafe exchange.number(&revocationDateMilliseconds, &c.pointee.revocation_date_ms)
        unsafe exchange.number(&revocationReason, &c.pointee.revocation_reason)
        try unsafe exchange.text(&revocationType, &c.pointee.revocation_type)
        unsafe exchange.number(&revocationPercentage, &c.pointee.revocation_percentage)
        unsafe exchange.flag(&isUpgraded, &c.pointee.is_upgraded)
        unsafe exchange.number(&signedDateMilliseconds, &c.pointee.signed_date_ms)
        try unsafe exchange.text(&appAccountToken, &c.pointee.app_account_token)
        try unsafe exchange.text(&appTransactionID, &c.pointee.app_transaction_id)
        try unsafe exchange.text(&webOrderLineItemID, &c.pointee.web_order_line_item_id)
        unsafe exchange.number(&priceMilliunits, &c.pointee.price_milliunits)
        try unsafe exchange.text(&currency, &c.pointee.currency)
        try unsafe exchange.text(&rawOwnership, &c.pointee.raw_ownership)
        unsafe exchange.flag(&overridden, &c.pointee.overridden)
        unsafe exchange.flag(&suspended, &c.pointee.suspended)
        try unsafe exchange.text(&signedPayload, &c.pointee.signed_payload)
        unsafe exchange.number(&datelessRevokeMilliseconds, &c.pointee.dateless_revoke_ms)
        unsafe exchange.number(&grantNotificationMilliseconds, &c.pointee.grant_notification_ms)
        unsafe exchange.number(&activeStatusMilliseconds, &c.pointee.active_status_ms)
        unsafe exchange.number(&datedCopyMilliseconds, &c.pointee.dated_copy_ms)
        try unsafe exchange.text(&signedRenewal, &c.pointee.signed_renewal)
        unsafe exchange.flag(&chainLinked, &c.pointee.chain_linked)
    }
}

extension Message.NotificationRecord: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__NotificationRecord>) {
        unsafe entitled__v1__notification_record__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__NotificationRecord>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&notificationUUID, &c.pointee.notification_uuid)
        try unsafe exchange.text(&notificationType, &c.pointee.notification_type)
        try unsafe exchange.text(&subtype, &c.pointee.subtype)
        unsafe exchange.number(&signedDateMilliseconds, &c.pointee.signed_date_ms)
        unsafe exchange.number(&receivedAtMilliseconds, &c.pointee.received_at_ms)
        unsafe exchange.enumeration(&disposition, &c.pointee.disposition)
        try unsafe exchange.text(&transactionID, &c.pointee.transaction_id)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.AuditEntry: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__AuditEntry>) {
        unsafe entitled__v1__audit_entry__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__AuditEntry>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.number(&atMilliseconds, &c.pointee.at_ms)
        try unsafe exchange.text(&action, &c.pointee.action)
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.text(&detail, &c.pointee.detail)
    }
}
