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
        if let call { try unsafe call.fill(target, arena) }
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
            self = unsafe .checkAccess(Message.CheckAccessRequest(source.check_access))
        case ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS_BATCH:
            let batch = unsafe source.check_access_batch.pointee
            self = unsafe .checkAccessBatch(values(batch.n_checks, batch.checks))
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
        default:
            return nil
        }
    }

    fileprivate func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__Request>, _ arena: MessageArena
    ) throws(WireError) {
        switch self {
        case .checkAccess(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS
            unsafe target.pointee.check_access = try arena.message(call)
        case .checkAccessBatch(let checks):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_CHECK_ACCESS_BATCH
            let batch = try unsafe arena.allocate(
                Entitled__V1__CheckAccessBatchRequest.self, count: 1)
            unsafe entitled__v1__check_access_batch_request__init(batch)
            unsafe batch.pointee.n_checks = checks.count
            unsafe batch.pointee.checks = try arena.messages(checks)
            unsafe target.pointee.check_access_batch = batch
        case .ingestNotification(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_INGEST_NOTIFICATION
            unsafe target.pointee.ingest_notification = try arena.message(call)
        case .ingestTransactions(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_INGEST_TRANSACTIONS
            unsafe target.pointee.ingest_transactions = try arena.message(call)
        case .rebuildCustomer(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_REBUILD_CUSTOMER
            unsafe target.pointee.rebuild_customer = try arena.message(call)
        case .linkCustomer(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_LINK_CUSTOMER
            unsafe target.pointee.link_customer = try arena.message(call)
        case .getCustomer(let call):
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_GET_CUSTOMER
            unsafe target.pointee.get_customer = try arena.message(call)
        case .getServerInfo:
            unsafe target.pointee.call_case = ENTITLED__V1__REQUEST__CALL_GET_SERVER_INFO
            let call = try unsafe arena.allocate(Entitled__V1__GetServerInfoRequest.self, count: 1)
            unsafe entitled__v1__get_server_info_request__init(call)
            unsafe target.pointee.get_server_info = call
        }
    }
}

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

extension Message.IngestNotificationRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationRequest>)
    {
        unsafe entitled__v1__ingest_notification_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__IngestNotificationRequest>) {
        self.init()
        let fields = unsafe source.pointee
        payload = unsafe Text(fields.payload).bytes
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__IngestNotificationRequest>,
        _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.payload = try arena.copy(payload)
    }
}

extension Message.IngestTransactionsRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__IngestTransactionsRequest>)
    {
        unsafe entitled__v1__ingest_transactions_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__IngestTransactionsRequest>) {
        self.init()
        let fields = unsafe source.pointee
        customerID = unsafe Text(fields.customer_id)
        signedTransactions = unsafe texts(fields.n_signed_transactions, fields.signed_transactions)
        signedRenewals = unsafe texts(fields.n_signed_renewals, fields.signed_renewals)
        signedAppTransaction = unsafe Text(fields.signed_app_transaction)
        transfer = unsafe fields.transfer != 0
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__IngestTransactionsRequest>,
        _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer_id = try arena.copy(customerID)
        unsafe target.pointee.n_signed_transactions = signedTransactions.count
        unsafe target.pointee.signed_transactions = try arena.copy(signedTransactions)
        unsafe target.pointee.n_signed_renewals = signedRenewals.count
        unsafe target.pointee.signed_renewals = try arena.copy(signedRenewals)
        unsafe target.pointee.signed_app_transaction = try arena.copy(signedAppTransaction)
        unsafe target.pointee.transfer = transfer ? 1 : 0
    }
}

extension Message.RebuildCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerRequest>) {
        unsafe entitled__v1__rebuild_customer_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__RebuildCustomerRequest>) {
        self.init()
        let fields = unsafe source.pointee
        customer = unsafe Message.CustomerRef(fields.customer)
        self.source = unsafe .init(fields.source)
        dryRun = unsafe fields.dry_run != 0
        scope = unsafe optionalValue(fields.scope)
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__RebuildCustomerRequest>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer = try arena.customerRef(customer)
        unsafe target.pointee.source = source.cValue()
        unsafe target.pointee.dry_run = dryRun ? 1 : 0
        unsafe target.pointee.scope = try arena.message(scope)
    }
}

extension Message.LinkCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__LinkCustomerRequest>) {
        unsafe entitled__v1__link_customer_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__LinkCustomerRequest>) {
        self.init()
        let fields = unsafe source.pointee
        customerID = unsafe Text(fields.customer_id)
        identity = unsafe Message.CustomerRef(fields.identity)
        scope = unsafe optionalValue(fields.scope)
        transfer = unsafe fields.transfer != 0
        householdID = unsafe Text(fields.household_id)
        leaveHousehold = unsafe fields.leave_household != 0
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__LinkCustomerRequest>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer_id = try arena.copy(customerID)
        unsafe target.pointee.identity = try arena.customerRef(identity)
        unsafe target.pointee.scope = try arena.message(scope)
        unsafe target.pointee.transfer = transfer ? 1 : 0
        unsafe target.pointee.household_id = try arena.copy(householdID)
        unsafe target.pointee.leave_household = leaveHousehold ? 1 : 0
    }
}

extension Message.GetCustomerRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__GetCustomerRequest>) {
        unsafe entitled__v1__get_customer_request__init(target)
    }

    init(_ source: UnsafePointer<Entitled__V1__GetCustomerRequest>) {
        self.init()
        let fields = unsafe source.pointee
        customer = unsafe Message.CustomerRef(fields.customer)
        scope = unsafe optionalValue(fields.scope)
        pageToken = unsafe Text(fields.page_token)
        allPayloads = unsafe fields.all_payloads != 0
    }

    func fill(
        _ target: UnsafeMutablePointer<Entitled__V1__GetCustomerRequest>, _ arena: MessageArena
    ) throws(WireError) {
        unsafe target.pointee.customer = try arena.customerRef(customer)
        unsafe target.pointee.scope = try arena.message(scope)
        unsafe target.pointee.page_token = try arena.copy(pageToken)
        unsafe target.pointee.all_payloads = allPayloads ? 1 : 0
    }
}
