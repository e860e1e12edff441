internal import CMessages
internal import CProtobufC

extension Request {
    /// Reads the body of a frame.
    ///
    /// Text and bytes are copied and not judged; enum numbers are kept as they came; a call that
    /// this release does not know leaves `call` nil.
    ///
    /// - Throws: `WireError.malformedMessage`; `.messageTooComplex` when it does not fit `arena`.
    package init(decoding body: Span<UInt8>, in arena: MessageArena) throws(WireError) {
        let id = try unsafe MessageCheck.check(body, EnvelopeDescriptor.request)
        arena.reset()
        let message = unsafe body.withUnsafeBufferPointer { buffer in
            unsafe entitled__v1__request__unpack(arena.handle, buffer.count, buffer.baseAddress)
        }
        guard let message = unsafe message else {
            throw .messageTooComplex(requestID: id, limit: arena.byteCountMax)
        }
        self = unsafe Request(message.pointee)
        arena.reset()
    }

    /// Appends the request as one frame.
    ///
    /// - Throws: `WireError.frameTooLarge`, `.messageTooComplex`; nothing is appended then.
    package func encodeFrame(
        into output: inout OutputBuffer, in arena: MessageArena, frameByteCountMax: Int
    ) throws(WireError) {
        arena.reset()
        defer { arena.reset() }
        let target = try unsafe arena.allocate(Entitled__V1__Request.self, count: 1)
        unsafe entitled__v1__request__init(target)
        unsafe target.pointee.id = id
        unsafe target.pointee.timeout_ms = timeoutMilliseconds
        unsafe target.pointee.traceparent = try arena.copy(traceparent)
        unsafe target.pointee.api_key = try arena.copy(apiKey)
        if let call { unsafe target.pointee.call_case = try call.fill(target, arena) }
        let base = unsafe UnsafeRawPointer(target).assumingMemoryBound(to: ProtobufCMessage.self)
        try unsafe output.appendFrame(base, frameByteCountMax: frameByteCountMax)
    }

    private init(_ source: Entitled__V1__Request) {
        self.init(id: unsafe source.id, call: unsafe Call(source))
        timeoutMilliseconds = unsafe source.timeout_ms
        traceparent = unsafe Text(source.traceparent)
        apiKey = unsafe Text(source.api_key)
    }
}

extension Request.Call {
    fileprivate init?(_ source: Entitled__V1__Request) {
        switch unsafe source.call_case {
        case ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS:
            self = unsafe .checkAccess(.init(source.check_access))
        case ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS_BATCH:
            self = unsafe .checkAccessBatch(Checks(source.check_access_batch).checks)
        case ENTITLED__V1__REQUEST__CALL_INGEST_NOTIFICATION:
            self = unsafe .ingestNotification(.init(source.ingest_notification))
        case ENTITLED__V1__REQUEST__CALL_INGEST_TRANSACTIONS:
            self = unsafe .ingestTransactions(.init(source.ingest_transactions))
        case ENTITLED__V1__REQUEST__CALL_REBUILD_CUSTOMER:
            self = unsafe .rebuildCustomer(.init(source.rebuild_customer))
        case ENTITLED__V1__REQUEST__CALL_LINK_CUSTOMER:
            self = unsafe .linkCustomer(.init(source.link_customer))
        case ENTITLED__V1__REQUEST__CALL_GET_CUSTOMER:
            self = unsafe .getCustomer(.init(source.get_customer))
        case ENTITLED__V1__REQUEST__CALL_GET_SERVER_INFO:
            self = .getServerInfo
        case ENTITLED__V1__REQUEST__CALL_BACKFILL_NOTIFICATIONS:
            self = unsafe .backfillNotifications(.init(source.backfill_notifications))
        case ENTITLED__V1__REQUEST__CALL_LIST_CUSTOMERS:
            self = unsafe .listCustomers(.init(source.list_customers))
        case ENTITLED__V1__REQUEST__CALL_GET_FAMILY:
            self = unsafe .getFamily(.init(source.get_family))
        case ENTITLED__V1__REQUEST__CALL_LIST_REFUNDS:
            self = unsafe .listRefunds(.init(source.list_refunds))
        case ENTITLED__V1__REQUEST__CALL_AUDIT_ACCESS:
            self = unsafe .auditAccess(.init(source.audit_access))
        case ENTITLED__V1__REQUEST__CALL_GET_RECONCILIATION:
            self = unsafe .getReconciliation(.init(source.get_reconciliation))
        case ENTITLED__V1__REQUEST__CALL_TEST_NOTIFICATION:
            self = unsafe .testNotification(.init(source.test_notification))
        case ENTITLED__V1__REQUEST__CALL_CREATE_BACKUP:
            self = unsafe .createBackup(.init(source.create_backup))
        case ENTITLED__V1__REQUEST__CALL_IMPORT_TRANSACTIONS:
            self = unsafe .importTransactions(.init(source.import_transactions))
        case ENTITLED__V1__REQUEST__CALL_FORGET_CUSTOMER:
            self = unsafe .forgetCustomer(.init(source.forget_customer))
        default:
            return nil
        }
    }

    /// Writes the call into `target`.
    ///
    /// - Returns: which of the oneof's members it is.
    fileprivate func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Request>, _ arena: MessageArena
    ) throws(WireError) -> Entitled__V1__Request__CallCase {
        switch self {
        case .checkAccess(let call):
            unsafe target.pointee.check_access = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS
        case .checkAccessBatch(let checks):
            unsafe target.pointee.check_access_batch = try arena.message(Checks(checks))
            return ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS_BATCH
        case .ingestNotification(let call):
            unsafe target.pointee.ingest_notification = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_INGEST_NOTIFICATION
        case .ingestTransactions(let call):
            unsafe target.pointee.ingest_transactions = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_INGEST_TRANSACTIONS
        case .rebuildCustomer(let call):
            unsafe target.pointee.rebuild_customer = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_REBUILD_CUSTOMER
        case .linkCustomer(let call):
            unsafe target.pointee.link_customer = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_LINK_CUSTOMER
        case .getCustomer(let call):
            unsafe target.pointee.get_customer = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_GET_CUSTOMER
        case .getServerInfo:
            unsafe target.pointee.get_server_info = try arena.message(ServerInfoQuestion())
            return ENTITLED__V1__REQUEST__CALL_GET_SERVER_INFO
        case .backfillNotifications(let call):
            unsafe target.pointee.backfill_notifications = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_BACKFILL_NOTIFICATIONS
        case .listCustomers(let call):
            unsafe target.pointee.list_customers = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_LIST_CUSTOMERS
        case .getFamily(let call):
            unsafe target.pointee.get_family = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_GET_FAMILY
        case .listRefunds(let call):
            unsafe target.pointee.list_refunds = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_LIST_REFUNDS
        case .auditAccess(let call):
            unsafe target.pointee.audit_access = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_AUDIT_ACCESS
        case .getReconciliation(let call):
            unsafe target.pointee.get_reconciliation = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_GET_RECONCILIATION
        case .testNotification(let call):
            unsafe target.pointee.test_notification = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_TEST_NOTIFICATION
        case .createBackup(let call):
            unsafe target.pointee.create_backup = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_CREATE_BACKUP
        case .importTransactions(let call):
            unsafe target.pointee.import_transactions = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_IMPORT_TRANSACTIONS
        case .forgetCustomer(let call):
            unsafe target.pointee.forget_customer = try arena.message(call)
            return ENTITLED__V1__REQUEST__CALL_FORGET_CUSTOMER
        }
    }
}

/// The message around the checks of a batch.
private struct Checks {
    var checks: [Message.CheckAccessRequest] = []

    init() {}

    init(_ checks: [Message.CheckAccessRequest]) { self.checks = checks }
}

/// The message that asks for the server; it has no fields.
private struct ServerInfoQuestion {}

extension OutputBuffer {
    /// Appends a C message as one frame.
    ///
    /// - Throws: `WireError.frameTooLarge`; nothing is appended then.
    mutating func appendFrame(
        _ message: UnsafePointer<ProtobufCMessage>, frameByteCountMax: Int
    ) throws(WireError) {
        let byteCount = unsafe protobuf_c_message_get_packed_size(message)
        guard byteCount <= frameByteCountMax else {
            throw .frameTooLarge(byteCount: byteCount, limit: frameByteCountMax)
        }
        let mark = FrameEncoder.begin(in: &self)
        unsafe write(upTo: byteCount) { unsafe protobuf_c_message_pack(message, $0) }
        FrameEncoder.end(in: &self, mark: mark)
    }
}

// MARK: - Field by field

extension Checks: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchRequest>) {
        unsafe entitled__v1__check_access_batch_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CheckAccessBatchRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.messages(&checks, &c.pointee.n_checks, &c.pointee.checks)
    }
}

extension ServerInfoQuestion: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetServerInfoRequest>) {
        unsafe entitled__v1__get_server_info_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetServerInfoRequest>, _ exchange: E
    ) throws(E.Failure) {}
}

extension Message.IngestNotificationRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationRequest>)
    {
        unsafe entitled__v1__ingest_notification_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__IngestNotificationRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.bytes(&payload, &c.pointee.payload)
    }
}

extension Message.IngestTransactionsRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestTransactionsRequest>)
    {
        unsafe entitled__v1__ingest_transactions_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__IngestTransactionsRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.texts(
            &signedTransactions, &c.pointee.n_signed_transactions, &c.pointee.signed_transactions)
        try unsafe exchange.texts(
            &signedRenewals, &c.pointee.n_signed_renewals, &c.pointee.signed_renewals)
        try unsafe exchange.text(&signedAppTransaction, &c.pointee.signed_app_transaction)
        unsafe exchange.flag(&transfer, &c.pointee.transfer)
    }
}

extension Message.RebuildCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerRequest>) {
        unsafe entitled__v1__rebuild_customer_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__RebuildCustomerRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        unsafe exchange.enumeration(&source, &c.pointee.source)
        unsafe exchange.flag(&dryRun, &c.pointee.dry_run)
        try unsafe exchange.message(&scope, &c.pointee.scope)
    }
}

extension Message.LinkCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__LinkCustomerRequest>) {
        unsafe entitled__v1__link_customer_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__LinkCustomerRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&customerID, &c.pointee.customer_id)
        try unsafe exchange.customer(&identity, &c.pointee.identity)
        try unsafe exchange.message(&scope, &c.pointee.scope)
        unsafe exchange.flag(&transfer, &c.pointee.transfer)
        try unsafe exchange.text(&householdID, &c.pointee.household_id)
        unsafe exchange.flag(&leaveHousehold, &c.pointee.leave_household)
    }
}

extension Message.GetCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetCustomerRequest>) {
        unsafe entitled__v1__get_customer_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__GetCustomerRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.customer(&customer, &c.pointee.customer)
        try unsafe exchange.message(&scope, &c.pointee.scope)
        try unsafe exchange.text(&pageToken, &c.pointee.page_token)
        unsafe exchange.flag(&allPayloads, &c.pointee.all_payloads)
    }
}
