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
        if let result { try unsafe result.fill(target, arena) }
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
            let write = unsafe source.ingest_transactions.pointee
            self = unsafe .ingestTransactions(
                .init(values(write.n_changes, write.changes), write.revision))
        case ENTITLED__V1__RESPONSE__RESULT_REBUILD_CUSTOMER:
            self = unsafe .rebuildCustomer(.init(source.rebuild_customer))
        case ENTITLED__V1__RESPONSE__RESULT_LINK_CUSTOMER:
            let write = unsafe source.link_customer.pointee
            self = unsafe .linkCustomer(
                .init(values(write.n_changes, write.changes), write.revision))
        case ENTITLED__V1__RESPONSE__RESULT_GET_CUSTOMER:
            self = unsafe .getCustomer(.init(source.get_customer))
        case ENTITLED__V1__RESPONSE__RESULT_GET_SERVER_INFO:
            self = unsafe .getServerInfo(.init(source.get_server_info))
        default:
            return nil
        }
    }

    fileprivate func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Response>, _ arena: MessageArena
    ) throws(WireError) {
        switch self {
        case .checkAccess(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS
            unsafe target.pointee.check_access = try arena.message(result)
        case .checkAccessBatch(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_CHECK_ACCESS_BATCH
            unsafe target.pointee.check_access_batch = try arena.message(result)
        case .ingestNotification(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_INGEST_NOTIFICATION
            unsafe target.pointee.ingest_notification = try arena.message(result)
        case .ingestTransactions(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_INGEST_TRANSACTIONS
            unsafe target.pointee.ingest_transactions = try arena.upload(result)
        case .rebuildCustomer(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_REBUILD_CUSTOMER
            unsafe target.pointee.rebuild_customer = try arena.message(result)
        case .linkCustomer(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_LINK_CUSTOMER
            unsafe target.pointee.link_customer = try arena.link(result)
        case .getCustomer(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_GET_CUSTOMER
            unsafe target.pointee.get_customer = try arena.message(result)
        case .getServerInfo(let result):
            unsafe target.pointee.result_case = ENTITLED__V1__RESPONSE__RESULT_GET_SERVER_INFO
            unsafe target.pointee.get_server_info = try arena.message(result)
        }
    }
}

extension MessageArena {
    /// The answer to an upload as a C field holds it.
    fileprivate func upload(
        _ result: Message.WriteResponse
    ) throws(WireError) -> UnsafeMutablePointer<Entitled__V1__IngestTransactionsResponse> {
        let target = try unsafe allocate(
            Entitled__V1__IngestTransactionsResponse.self, count: 1)
        unsafe entitled__v1__ingest_transactions_response__init(target)
        unsafe target.pointee.n_changes = result.changes.count
        unsafe target.pointee.changes = try messages(result.changes)
        unsafe target.pointee.revision = result.revision
        return unsafe target
    }

    /// The answer to a link as a C field holds it.
    fileprivate func link(
        _ result: Message.WriteResponse
    ) throws(WireError) -> UnsafeMutablePointer<Entitled__V1__LinkCustomerResponse> {
        let target = try unsafe allocate(Entitled__V1__LinkCustomerResponse.self, count: 1)
        unsafe entitled__v1__link_customer_response__init(target)
        unsafe target.pointee.n_changes = result.changes.count
        unsafe target.pointee.changes = try messages(result.changes)
        unsafe target.pointee.revision = result.revision
        return unsafe target
    }
}

extension Message.WriteResponse {
    /// A copy of the two fields that the answers to uploads and links have.
    fileprivate init(_ changes: [Message.Change], _ revision: UInt64) {
        self.init()
        self.changes = changes
        self.revision = revision
    }
}

// MARK: - Field by field

extension Message.CheckAccessBatchResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchResponse>) {
        unsafe entitled__v1__check_access_batch_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__CheckAccessBatchResponse>) {
        self.init()
        let fields = unsafe source.pointee
        results = unsafe values(fields.n_results, fields.results)
        revision = unsafe fields.revision
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchResponse>,
        _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.n_results = results.count
        unsafe target.pointee.results = try arena.messages(results)
        unsafe target.pointee.revision = revision
    }
}

extension Message.IngestNotificationResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationResponse>)
    {
        unsafe entitled__v1__ingest_notification_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__IngestNotificationResponse>) {
        self.init()
        let fields = unsafe source.pointee
        notificationUUID = unsafe Text(fields.notification_uuid)
        notificationType = unsafe Text(fields.notification_type)
        subtype = unsafe Text(fields.subtype)
        disposition = unsafe .init(fields.disposition)
        changes = unsafe values(fields.n_changes, fields.changes)
        revision = unsafe fields.revision
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationResponse>,
        _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.notification_uuid = try arena.copy(notificationUUID)
        unsafe target.pointee.notification_type = try arena.copy(notificationType)
        unsafe target.pointee.subtype = try arena.copy(subtype)
        unsafe target.pointee.disposition = disposition.cValue()
        unsafe target.pointee.n_changes = changes.count
        unsafe target.pointee.changes = try arena.messages(changes)
        unsafe target.pointee.revision = revision
    }
}

extension Message.RebuildCustomerResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerResponse>) {
        unsafe entitled__v1__rebuild_customer_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__RebuildCustomerResponse>) {
        self.init()
        let fields = unsafe source.pointee
        self.source = unsafe .init(fields.source)
        transactionsRead = unsafe fields.transactions_read
        changes = unsafe values(fields.n_changes, fields.changes)
        entitlements = unsafe values(fields.n_entitlements, fields.entitlements)
        revision = unsafe fields.revision
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerResponse>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.source = source.cValue()
        unsafe target.pointee.transactions_read = transactionsRead
        unsafe target.pointee.n_changes = changes.count
        unsafe target.pointee.changes = try arena.messages(changes)
        unsafe target.pointee.n_entitlements = entitlements.count
        unsafe target.pointee.entitlements = try arena.messages(entitlements)
        unsafe target.pointee.revision = revision
    }
}

extension Message.GetCustomerResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetCustomerResponse>) {
        unsafe entitled__v1__get_customer_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__GetCustomerResponse>) {
        self.init()
        let fields = unsafe source.pointee
        customerID = unsafe Text(fields.customer_id)
        entitlements = unsafe values(fields.n_entitlements, fields.entitlements)
        transactions = unsafe values(fields.n_transactions, fields.transactions)
        notifications = unsafe values(fields.n_notifications, fields.notifications)
        identities = unsafe texts(fields.n_identities, fields.identities)
        revision = unsafe fields.revision
        nextPageToken = unsafe Text(fields.next_page_token)
        transactionsTotal = unsafe fields.transactions_total
        householdID = unsafe Text(fields.household_id)
        audit = unsafe values(fields.n_audit, fields.audit)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__GetCustomerResponse>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer_id = try arena.copy(customerID)
        unsafe target.pointee.n_entitlements = entitlements.count
        unsafe target.pointee.entitlements = try arena.messages(entitlements)
        unsafe target.pointee.n_transactions = transactions.count
        unsafe target.pointee.transactions = try arena.messages(transactions)
        unsafe target.pointee.n_notifications = notifications.count
        unsafe target.pointee.notifications = try arena.messages(notifications)
        unsafe target.pointee.n_identities = identities.count
        unsafe target.pointee.identities = try arena.copy(identities)
        unsafe target.pointee.revision = revision
        unsafe target.pointee.next_page_token = try arena.copy(nextPageToken)
        unsafe target.pointee.transactions_total = transactionsTotal
        unsafe target.pointee.household_id = try arena.copy(householdID)
        unsafe target.pointee.n_audit = audit.count
        unsafe target.pointee.audit = try arena.messages(audit)
    }
}

extension Message.GetServerInfoResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetServerInfoResponse>) {
        unsafe entitled__v1__get_server_info_response__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__GetServerInfoResponse>) {
        self.init()
        let fields = unsafe source.pointee
        version = unsafe Text(fields.version)
        commit = unsafe Text(fields.commit)
        revision = unsafe fields.revision
        uptimeMilliseconds = unsafe fields.uptime_ms
        scopes = unsafe values(fields.n_scopes, fields.scopes)
        customers = unsafe fields.customers
        transactions = unsafe fields.transactions
        appStoreAPIConfigured = unsafe fields.app_store_api_configured != 0
        protocolVersion = unsafe fields.protocol_version
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__GetServerInfoResponse>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.version = try arena.copy(version)
        unsafe target.pointee.commit = try arena.copy(commit)
        unsafe target.pointee.revision = revision
        unsafe target.pointee.uptime_ms = uptimeMilliseconds
        unsafe target.pointee.n_scopes = scopes.count
        unsafe target.pointee.scopes = try arena.messages(scopes)
        unsafe target.pointee.customers = customers
        unsafe target.pointee.transactions = transactions
        unsafe target.pointee.app_store_api_configured = appStoreAPIConfigured ? 1 : 0
        unsafe target.pointee.protocol_version = protocolVersion
    }
}
