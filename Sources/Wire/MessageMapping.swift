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

extension Message.CheckAccessRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>) {
        unsafe entitled__v1__check_access_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__CheckAccessRequest>) {
        self.init()
        let fields = unsafe source.pointee
        customer = unsafe Message.CustomerRef(fields.customer)
        switch unsafe fields.what_case {
        case ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_PRODUCT_ID:
            subject = unsafe .product(Text(fields.product_id))
        case ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_ENTITLEMENT:
            subject = unsafe .entitlement(Text(fields.entitlement))
        default:
            subject = nil
        }
        atMilliseconds = unsafe fields.at_ms
        minRevision = unsafe fields.min_revision
        scope = unsafe optionalValue(fields.scope)
        units = unsafe fields.units
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__CheckAccessRequest>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer = try arena.customerRef(customer)
        switch subject {
        case .product(let text):
            unsafe target.pointee.what_case = ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_PRODUCT_ID
            unsafe target.pointee.product_id = try arena.copy(text)
        case .entitlement(let text):
            unsafe target.pointee.what_case = ENTITLED__V1__CHECK_ACCESS_REQUEST__WHAT_ENTITLEMENT
            unsafe target.pointee.entitlement = try arena.copy(text)
        case nil:
            break
        }
        unsafe target.pointee.at_ms = atMilliseconds
        unsafe target.pointee.min_revision = minRevision
        unsafe target.pointee.scope = try arena.message(scope)
        unsafe target.pointee.units = units
    }
}

extension Message.Scope: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Scope>) {
        unsafe entitled__v1__scope__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__Scope>) {
        self.init()
        let fields = unsafe source.pointee
        bundleID = unsafe Text(fields.bundle_id)
        environment = unsafe .init(fields.environment)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Scope>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.bundle_id = try arena.copy(bundleID)
        unsafe target.pointee.environment = environment.cValue()
    }
}

extension Message.Change: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Change>) {
        unsafe entitled__v1__change__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__Change>) {
        self.init()
        let fields = unsafe source.pointee
        customerID = unsafe Text(fields.customer_id)
        productID = unsafe Text(fields.product_id)
        grantedBefore = unsafe fields.granted_before != 0
        grantedAfter = unsafe fields.granted_after != 0
        reason = unsafe .init(fields.reason)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Change>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer_id = try arena.copy(customerID)
        unsafe target.pointee.product_id = try arena.copy(productID)
        unsafe target.pointee.granted_before = grantedBefore ? 1 : 0
        unsafe target.pointee.granted_after = grantedAfter ? 1 : 0
        unsafe target.pointee.reason = reason.cValue()
    }
}

extension Message.CheckAccessResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessResponse>) {
        unsafe entitled__v1__check_access_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__CheckAccessResponse>) {
        self.init()
        let fields = unsafe source.pointee
        granted = unsafe fields.granted != 0
        reason = unsafe .init(fields.reason)
        ownership = unsafe .init(fields.ownership)
        validUntilMilliseconds = unsafe fields.valid_until_ms
        productID = unsafe Text(fields.product_id)
        transactionID = unsafe Text(fields.transaction_id)
        originalTransactionID = unsafe Text(fields.original_transaction_id)
        revision = unsafe fields.revision
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__CheckAccessResponse>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.granted = granted ? 1 : 0
        unsafe target.pointee.reason = reason.cValue()
        unsafe target.pointee.ownership = ownership.cValue()
        unsafe target.pointee.valid_until_ms = validUntilMilliseconds
        unsafe target.pointee.product_id = try arena.copy(productID)
        unsafe target.pointee.transaction_id = try arena.copy(transactionID)
        unsafe target.pointee.original_transaction_id = try arena.copy(originalTransactionID)
        unsafe target.pointee.revision = revision
    }
}

extension Message.Entitlement: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__Entitlement>) {
        unsafe entitled__v1__entitlement__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__Entitlement>) {
        self.init()
        let fields = unsafe source.pointee
        productID = unsafe Text(fields.product_id)
        names = unsafe texts(fields.n_names, fields.names)
        granted = unsafe fields.granted != 0
        reason = unsafe .init(fields.reason)
        ownership = unsafe .init(fields.ownership)
        validUntilMilliseconds = unsafe fields.valid_until_ms
        transactionID = unsafe Text(fields.transaction_id)
        originalTransactionID = unsafe Text(fields.original_transaction_id)
        revokedAtMilliseconds = unsafe fields.revoked_at_ms
        paymentReversed = unsafe fields.payment_reversed != 0
        causeCertain = unsafe fields.cause_certain != 0
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Entitlement>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.product_id = try arena.copy(productID)
        unsafe target.pointee.n_names = names.count
        unsafe target.pointee.names = try arena.copy(names)
        unsafe target.pointee.granted = granted ? 1 : 0
        unsafe target.pointee.reason = reason.cValue()
        unsafe target.pointee.ownership = ownership.cValue()
        unsafe target.pointee.valid_until_ms = validUntilMilliseconds
        unsafe target.pointee.transaction_id = try arena.copy(transactionID)
        unsafe target.pointee.original_transaction_id = try arena.copy(originalTransactionID)
        unsafe target.pointee.revoked_at_ms = revokedAtMilliseconds
        unsafe target.pointee.payment_reversed = paymentReversed ? 1 : 0
        unsafe target.pointee.cause_certain = causeCertain ? 1 : 0
    }
}

extension Message.TransactionRecord: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__TransactionRecord>) {
        unsafe entitled__v1__transaction_record__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__TransactionRecord>) {
        self.init()
        let fields = unsafe source.pointee
        transactionID = unsafe Text(fields.transaction_id)
        originalTransactionID = unsafe Text(fields.original_transaction_id)
        productID = unsafe Text(fields.product_id)
        type = unsafe Text(fields.type)
        ownership = unsafe .init(fields.ownership)
        purchaseDateMilliseconds = unsafe fields.purchase_date_ms
        expiresDateMilliseconds = unsafe fields.expires_date_ms
        revocationDateMilliseconds = unsafe fields.revocation_date_ms
        revocationReason = unsafe fields.revocation_reason
        revocationType = unsafe Text(fields.revocation_type)
        revocationPercentage = unsafe fields.revocation_percentage
        isUpgraded = unsafe fields.is_upgraded != 0
        signedDateMilliseconds = unsafe fields.signed_date_ms
        appAccountToken = unsafe Text(fields.app_account_token)
        appTransactionID = unsafe Text(fields.app_transaction_id)
        webOrderLineItemID = unsafe Text(fields.web_order_line_item_id)
        priceMilliunits = unsafe fields.price_milliunits
        currency = unsafe Text(fields.currency)
        rawOwnership = unsafe Text(fields.raw_ownership)
        overridden = unsafe fields.overridden != 0
        suspended = unsafe fields.suspended != 0
        signedPayload = unsafe Text(fields.signed_payload)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__TransactionRecord>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.transaction_id = try arena.copy(transactionID)
        unsafe target.pointee.original_transaction_id = try arena.copy(originalTransactionID)
        unsafe target.pointee.product_id = try arena.copy(productID)
        unsafe target.pointee.type = try arena.copy(type)
        unsafe target.pointee.ownership = ownership.cValue()
        unsafe target.pointee.purchase_date_ms = purchaseDateMilliseconds
        unsafe target.pointee.expires_date_ms = expiresDateMilliseconds
        unsafe target.pointee.revocation_date_ms = revocationDateMilliseconds
        unsafe target.pointee.revocation_reason = revocationReason
        unsafe target.pointee.revocation_type = try arena.copy(revocationType)
        unsafe target.pointee.revocation_percentage = revocationPercentage
        unsafe target.pointee.is_upgraded = isUpgraded ? 1 : 0
        unsafe target.pointee.signed_date_ms = signedDateMilliseconds
        unsafe target.pointee.app_account_token = try arena.copy(appAccountToken)
        unsafe target.pointee.app_transaction_id = try arena.copy(appTransactionID)
        unsafe target.pointee.web_order_line_item_id = try arena.copy(webOrderLineItemID)
        unsafe target.pointee.price_milliunits = priceMilliunits
        unsafe target.pointee.currency = try arena.copy(currency)
        unsafe target.pointee.raw_ownership = try arena.copy(rawOwnership)
        unsafe target.pointee.overridden = overridden ? 1 : 0
        unsafe target.pointee.suspended = suspended ? 1 : 0
        unsafe target.pointee.signed_payload = try arena.copy(signedPayload)
    }
}

extension Message.NotificationRecord: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__NotificationRecord>) {
        unsafe entitled__v1__notification_record__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__NotificationRecord>) {
        self.init()
        let fields = unsafe source.pointee
        notificationUUID = unsafe Text(fields.notification_uuid)
        notificationType = unsafe Text(fields.notification_type)
        subtype = unsafe Text(fields.subtype)
        signedDateMilliseconds = unsafe fields.signed_date_ms
        receivedAtMilliseconds = unsafe fields.received_at_ms
        disposition = unsafe .init(fields.disposition)
        transactionID = unsafe Text(fields.transaction_id)
        revision = unsafe fields.revision
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__NotificationRecord>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.notification_uuid = try arena.copy(notificationUUID)
        unsafe target.pointee.notification_type = try arena.copy(notificationType)
        unsafe target.pointee.subtype = try arena.copy(subtype)
        unsafe target.pointee.signed_date_ms = signedDateMilliseconds
        unsafe target.pointee.received_at_ms = receivedAtMilliseconds
        unsafe target.pointee.disposition = disposition.cValue()
        unsafe target.pointee.transaction_id = try arena.copy(transactionID)
        unsafe target.pointee.revision = revision
    }
}

extension Message.AuditEntry: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__AuditEntry>) {
        unsafe entitled__v1__audit_entry__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__AuditEntry>) {
        self.init()
        let fields = unsafe source.pointee
        atMilliseconds = unsafe fields.at_ms
        action = unsafe Text(fields.action)
        customerID = unsafe Text(fields.customer_id)
        detail = unsafe Text(fields.detail)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__AuditEntry>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.at_ms = atMilliseconds
        unsafe target.pointee.action = try arena.copy(action)
        unsafe target.pointee.customer_id = try arena.copy(customerID)
        unsafe target.pointee.detail = try arena.copy(detail)
    }
}
