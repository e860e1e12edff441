internal import CMessages
internal import CProtobufC

extension Response {
    /// Reads the body of a frame; what `Request` says of text, enums and unknown calls holds here.
    ///
    /// - Throws: `WireError.malformedMessage`; `.messageTooComplex` when it does not fit `arena`.
    package init(decoding body: Span<UInt8>, in arena: MessageArena) throws(WireError) {
        let id = try unsafe MessageCheck.check(body, EnvelopeDescriptor.response)
        arena.reset()
        let message = unsafe body.withUnsafeBufferPointer { buffer in
            unsafe entitled__v1__response__unpack(arena.handle, buffer.count, buffer.baseAddress)
        }
        guard let message = unsafe message else {
            throw .messageTooComplex(requestID: id, limit: arena.byteCountMax)
        }
        self = unsafe Response(message.pointee)
        arena.reset()
    }

    /// Appends the response as one frame.
    ///
    /// - Throws: `WireError.frameTooLarge`, `.messageTooComplex`; nothing is appended then.
    package func encodeFrame(
        into output: inout OutputBuffer, in arena: MessageArena, frameByteCountMax: Int
    ) throws(WireError) {
        arena.reset()
        defer { arena.reset() }
        let target = try unsafe arena.allocate(Entitled__V1__Response.self, count: 1)
        unsafe entitled__v1__response__init(target)
        unsafe target.pointee.id = id
        unsafe target.pointee.status = status.cValue()
        unsafe target.pointee.reason = try arena.copy(reason)
        unsafe target.pointee.message = try arena.copy(message)
        unsafe target.pointee.retry_after_ms = retryAfterMilliseconds
        if let result { unsafe target.pointee.result_case = try result.fill(target, arena) }
        let base = unsafe UnsafeRawPointer(target).assumingMemoryBound(to: ProtobufCMessage.self)
        try unsafe output.appendFrame(base, frameByteCountMax: frameByteCountMax)
    }

    private init(_ source: Entitled__V1__Response) {
        self.init(id: unsafe source.id, result: unsafe Result(source))
        status = unsafe .init(source.status)
        reason = unsafe Text(source.reason)
        message = unsafe Text(source.message)
        retryAfterMilliseconds = unsafe source.retry_after_ms
    }
}

extension Response.Result {
    fileprivate init?(_ source: Entitled__V1__Response) {
        switch unsafe source.result_case {
        case ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS:
            self = unsafe .checkAccess(.init(source.check_access))
        case ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS_BATCH:
            self = unsafe .checkAccessBatch(.init(source.check_access_batch))
        case ENTITLED__V1__RESPONSE__RESULT_INGEST_NOTIFICATION:
            self = unsafe .ingestNotification(.init(source.ingest_notification))
        case ENTITLED__V1__RESPONSE__RESULT_INGEST_TRANSACTIONS:
            self = unsafe .ingestTransactions(Upload(source.ingest_transactions).response)
        case ENTITLED__V1__RESPONSE__RESULT_REBUILD_CUSTOMER:
            self = unsafe .rebuildCustomer(.init(source.rebuild_customer))
        case ENTITLED__V1__RESPONSE__RESULT_LINK_CUSTOMER:
            self = unsafe .linkCustomer(Link(source.link_customer).response)
        case ENTITLED__V1__RESPONSE__RESULT_GET_CUSTOMER:
            self = unsafe .getCustomer(.init(source.get_customer))
        case ENTITLED__V1__RESPONSE__RESULT_GET_SERVER_INFO:
            self = unsafe .getServerInfo(.init(source.get_server_info))
        case ENTITLED__V1__RESPONSE__RESULT_BACKFILL_NOTIFICATIONS:
            self = unsafe .backfillNotifications(.init(source.backfill_notifications))
        case ENTITLED__V1__RESPONSE__RESULT_LIST_CUSTOMERS:
            self = unsafe .listCustomers(.init(source.list_customers))
        case ENTITLED__V1__RESPONSE__RESULT_GET_FAMILY:
            self = unsafe .getFamily(.init(source.get_family))
        case ENTITLED__V1__RESPONSE__RESULT_LIST_REFUNDS:
            self = unsafe .listRefunds(.init(source.list_refunds))
        case ENTITLED__V1__RESPONSE__RESULT_AUDIT_ACCESS:
            self = unsafe .auditAccess(.init(source.audit_access))
        case ENTITLED__V1__RESPONSE__RESULT_GET_RECONCILIATION:
            self = unsafe .getReconciliation(.init(source.get_reconciliation))
        case ENTITLED__V1__RESPONSE__RESULT_TEST_NOTIFICATION:
            self = unsafe .testNotification(.init(source.test_notification))
        case ENTITLED__V1__RESPONSE__RESULT_CREATE_BACKUP:
            self = unsafe .createBackup(.init(source.create_backup))
        case ENTITLED__V1__RESPONSE__RESULT_IMPORT_TRANSACTIONS:
            self = unsafe .importTransactions(.init(source.import_transactions))
        case ENTITLED__V1__RESPONSE__RESULT_FORGET_CUSTOMER:
            self = unsafe .forgetCustomer(.init(source.forget_customer))
        default:
            return nil
        }
    }

    /// Writes the result into `target`.
    ///
    /// - Returns: which of the oneof's members it is.
    fileprivate func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Response>, _ arena: MessageArena
    ) throws(WireError) -> Entitled__V1__Response__ResultCase {
        switch self {
        case .checkAccess(let result):
            unsafe target.pointee.check_access = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS
        case .checkAccessBatch(let result):
            unsafe target.pointee.check_access_batch = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS_BATCH
        case .ingestNotification(let result):
            unsafe target.pointee.ingest_notification = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_INGEST_NOTIFICATION
        case .ingestTransactions(let result):
            unsafe target.pointee.ingest_transactions = try arena.message(Upload(result))
            return ENTITLED__V1__RESPONSE__RESULT_INGEST_TRANSACTIONS
        case .rebuildCustomer(let result):
            unsafe target.pointee.rebuild_customer = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_REBUILD_CUSTOMER
        case .linkCustomer(let result):
            unsafe target.pointee.link_customer = try arena.message(Link(result))
            return ENTITLED__V1__RESPONSE__RESULT_LINK_CUSTOMER
        case .getCustomer(let result):
            unsafe target.pointee.get_customer = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_GET_CUSTOMER
        case .getServerInfo(let result):
            unsafe target.pointee.get_server_info = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_GET_SERVER_INFO
        case .backfillNotifications(let result):
            unsafe target.pointee.backfill_notifications = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_BACKFILL_NOTIFICATIONS
        case .listCustomers(let result):
            unsafe target.pointee.list_customers = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_LIST_CUSTOMERS
        case .getFamily(let result):
            unsafe target.pointee.get_family = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_GET_FAMILY
        case .listRefunds(let result):
            unsafe target.pointee.list_refunds = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_LIST_REFUNDS
        case .auditAccess(let result):
            unsafe target.pointee.audit_access = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_AUDIT_ACCESS
        case .getReconciliation(let result):
            unsafe target.pointee.get_reconciliation = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_GET_RECONCILIATION
        case .testNotification(let result):
            unsafe target.pointee.test_notification = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_TEST_NOTIFICATION
        case .createBackup(let result):
            unsafe target.pointee.create_backup = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_CREATE_BACKUP
        case .importTransactions(let result):
            unsafe target.pointee.import_transactions = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_IMPORT_TRANSACTIONS
        case .forgetCustomer(let result):
            unsafe target.pointee.forget_customer = try arena.message(result)
            return ENTITLED__V1__RESPONSE__RESULT_FORGET_CUSTOMER
        }
    }
}

// The answers to uploads and links are one message here and two in the contract.

private struct Upload {
    var response = Message.WriteResponse()

    init() {}

    init(_ response: Message.WriteResponse) { self.response = response }
}

private struct Link {
    var response = Message.WriteResponse()

    init() {}

    init(_ response: Message.WriteResponse) { self.response = response }
}

// MARK: - Field by field

extension Upload: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestTransactionsResponse>)
    {
        unsafe entitled__v1__ingest_transactions_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__IngestTransactionsResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(
            &response.changes, &c.pointee.n_changes, &c.pointee.changes)
        unsafe exchange.number(&response.revision, &c.pointee.revision)
    }
}

extension Link: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__LinkCustomerResponse>) {
        unsafe entitled__v1__link_customer_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__LinkCustomerResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(
            &response.changes, &c.pointee.n_changes, &c.pointee.changes)
        unsafe exchange.number(&response.revision, &c.pointee.revision)
    }
}

extension Message.CheckAccessBatchResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchResponse>) {
        unsafe entitled__v1__check_access_batch_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&results, &c.pointee.n_results, &c.pointee.results)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.IngestNotificationResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationResponse>)
    {
        unsafe entitled__v1__ingest_notification_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__IngestNotificationResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&notificationUUID, &c.pointee.notification_uuid)
        try unsafe exchange.text(&notificationType, &c.pointee.notification_type)
        try unsafe exchange.text(&subtype, &c.pointee.subtype)
        unsafe exchange.enumeration(&disposition, &c.pointee.disposition)
        try unsafe exchange.messages(&changes, &c.pointee.n_changes, &c.pointee.changes)
        unsafe exchange.number(&revision, &c.pointee.revision)
    }
}

extension Message.RebuildCustomerResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerResponse>) {
        unsafe entitled__v1__rebuild_customer_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__RebuildCustomerResponse>, _ exchange: E
    ) throws(E.Failure) {
        unsafe exchange.enumeration(&source, &c.pointee.source)
        unsafe exchange.number(&transactionsRead, &c.pointee.transactions_read)
        try unsafe exchange.messages(&changes, &c.pointee.n_changes, &c.pointee.changes)
        try unsafe exchange.messages(
            &entitlements, &c.pointee.n_entitlements, &c.pointee.entitlements)
        unsafe exchange.number(&revision, &c.pointee.revision)
        try unsafe exchange.messages(&problems, &c.pointee.n_problems, &c.pointee.problems)
    }
}

extension Message.GetCustomerResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetCustomerResponse>) {
        unsafe entitled__v1__get_customer_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetCustomerResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.messages(
            &entitlements, &c.pointee.n_entitlements, &c.pointee.entitlements)
        try unsafe exchange.messages(
            &transactions, &c.pointee.n_transactions, &c.pointee.transactions)
        try unsafe exchange.messages(
            &notifications, &c.pointee.n_notifications, &c.pointee.notifications)
        try unsafe exchange.texts(&identities, &c.pointee.n_identities, &c.pointee.identities)
        unsafe exchange.number(&revision, &c.pointee.revision)
        try unsafe exchange.text(&nextPageToken, &c.pointee.next_page_token)
        unsafe exchange.number(&transactionsTotal, &c.pointee.transactions_total)
        try unsafe exchange.text(&householdID, &c.pointee.household_id)
        try unsafe exchange.messages(&audit, &c.pointee.n_audit, &c.pointee.audit)
        unsafe exchange.number(&refreshedAtMilliseconds, &c.pointee.refreshed_at_ms)
        try unsafe exchange.message(&queuedRefresh, &c.pointee.queued_refresh)
        try unsafe exchange.messages(&links, &c.pointee.n_links, &c.pointee.links)
    }
}

extension Message.GetServerInfoResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetServerInfoResponse>) {
        unsafe entitled__v1__get_server_info_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetServerInfoResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&version, &c.pointee.version)
        try unsafe exchange.text(&commit, &c.pointee.commit)
        unsafe exchange.number(&revision, &c.pointee.revision)
        unsafe exchange.number(&uptimeMilliseconds, &c.pointee.uptime_ms)
        try unsafe exchange.messages(&scopes, &c.pointee.n_scopes, &c.pointee.scopes)
        unsafe exchange.number(&customers, &c.pointee.customers)
        unsafe exchange.number(&transactions, &c.pointee.transactions)
        unsafe exchange.flag(&appStoreAPIConfigured, &c.pointee.app_store_api_configured)
        unsafe exchange.number(&protocolVersion, &c.pointee.protocol_version)
    }
}
