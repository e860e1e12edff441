internal import Wire

extension Client {
    /// Whether a customer may use a product or an entitlement.
    ///
    /// - Parameters:
    ///   - question: Who, what, when.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Yes or no, and why. An unknown customer is a no.
    /// - Throws: `ClientError`; `.refused` with REVISION_NOT_REACHED when `minRevision` was not
    ///   reached in time.
    public func checkAccess(
        _ question: AccessQuestion, timeout: Duration? = nil
    ) async throws(ClientError) -> AccessAnswer {
        let request = Message.CheckAccessRequest(question, scope: configuration.scope)
        let result = try await perform(
            .checkAccess(request), timeout: timeout, isRepeatable: true)
        guard case .checkAccess(let response) = result else { throw .unasked }
        return AccessAnswer(response)
    }

    /// Whether a customer may use a product now.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - product: The product by its App Store id.
    ///   - minRevision: The answer must have seen this revision; 0 = any.
    /// - Returns: Yes or no, and why. An unknown customer is a no.
    /// - Throws: `ClientError`.
    public func checkAccess(
        _ customer: CustomerReference, product: String, minRevision: UInt64 = 0
    ) async throws(ClientError) -> AccessAnswer {
        try await checkAccess(
            AccessQuestion(
                customer: customer, subject: .product(product), minRevision: minRevision))
    }

    /// Whether a customer may use what the catalog calls `entitlement` now.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - entitlement: The name in the catalog.
    ///   - minRevision: The answer must have seen this revision; 0 = any.
    /// - Returns: Yes or no, and why. An unknown customer is a no.
    /// - Throws: `ClientError`.
    public func checkAccess(
        _ customer: CustomerReference, entitlement: String, minRevision: UInt64 = 0
    ) async throws(ClientError) -> AccessAnswer {
        try await checkAccess(
            AccessQuestion(
                customer: customer, subject: .entitlement(entitlement), minRevision: minRevision))
    }

    /// Many checks that see one revision.
    ///
    /// - Parameters:
    ///   - questions: At most 1,000.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: The answers, in the order of the questions.
    /// - Throws: `ClientError`; one bad question refuses the batch.
    public func checkAccessBatch(
        _ questions: [AccessQuestion], timeout: Duration? = nil
    ) async throws(ClientError) -> AccessAnswers {
        let checks = questions.map {
            Message.CheckAccessRequest($0, scope: configuration.scope)
        }
        let result = try await perform(
            .checkAccessBatch(checks), timeout: timeout, isRepeatable: true)
        guard case .checkAccessBatch(let response) = result,
            response.results.count == questions.count
        else { throw .unasked }
        return AccessAnswers(
            answers: response.results.map { AccessAnswer($0) }, revision: response.revision)
    }

    /// Hands in what Apple POSTed.
    ///
    /// When this returns, the server has stored it for good, and every check sees it.
    ///
    /// - Parameters:
    ///   - payload: The HTTP body exactly as it came (V2 or V1), or a bare JWS.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: What became of it, and whose access changed. A repeat is no error.
    /// - Throws: `ClientError`. After `.deadlineExceeded`, `.connectionLost` and `.cancelled` it
    /// may
    ///   have been taken in: hand it in again, a repeat does no harm.
    public func ingestNotification(
        _ payload: [UInt8], timeout: Duration? = nil
    ) async throws(ClientError) -> IngestedNotification {
        let result = try await perform(
            .ingestNotification(Message.IngestNotificationRequest(payload: payload)),
            timeout: timeout, isRepeatable: configuration.resendsNotifications)
        guard case .ingestNotification(let response) = result else { throw .unasked }
        return IngestedNotification(response)
    }

    /// Hands in what a customer's device or Apple's history holds of him.
    ///
    /// - Parameters:
    ///   - upload: Signed facts of one customer; taken whole or not at all.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Whose access changed.
    /// - Throws: `ClientError`; `.refused` with IDENTITY_CONFLICT when something belongs to another
    ///   named customer.
    public func ingestTransactions(
        _ upload: TransactionUpload, timeout: Duration? = nil
    ) async throws(ClientError) -> WriteResult {
        let result = try await perform(
            .ingestTransactions(Message.IngestTransactionsRequest(upload)), timeout: timeout,
            isRepeatable: false)
        guard case .ingestTransactions(let response) = result else { throw .unasked }
        return WriteResult(response)
    }

    /// Rebuilds one customer's entitlements from the whole history.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - source: Where to read the history.
    ///   - isDryRun: Only say what would change.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration, its `appStoreTimeout` where
    ///     Apple may be asked.
    /// - Returns: What was read, what changed, and what is so now.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER, APP_STORE_NOT_CONFIGURED,
    ///   APP_STORE_UNAUTHORIZED, APP_STORE_THROTTLED or APP_STORE_INCOMPLETE; the last two say when
    ///   to try again.
    public func rebuildCustomer(
        _ customer: CustomerReference, source: RebuildSource = .automatic, isDryRun: Bool = false,
        scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> RebuildResult {
        var request = Message.RebuildCustomerRequest()
        request.customer = Message.CustomerRef(customer)
        request.source = Message.Source(rawValue: source.rawValue)
        request.dryRun = isDryRun
        request.scope = (scope ?? configuration.scope).map { Message.Scope($0) }
        let result = try await perform(
            .rebuildCustomer(request), timeout: timeout, isRepeatable: false,
            waitsForApple: source != .storedFacts)
        guard case .rebuildCustomer(let response) = result else { throw .unasked }
        return RebuildResult(response)
    }

    /// Says who a customer is, and with whom he shares purchases.
    ///
    /// - Parameters:
    ///   - link: What to say.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Whose access changed.
    /// - Throws: `ClientError`; `.refused` with IDENTITY_CONFLICT when the identity is another
    /// named
    ///   customer's.
    public func linkCustomer(
        _ link: CustomerLink, timeout: Duration? = nil
    ) async throws(ClientError) -> WriteResult {
        let request = Message.LinkCustomerRequest(link, scope: configuration.scope)
        let result = try await perform(
            .linkCustomer(request), timeout: timeout, isRepeatable: false)
        guard case .linkCustomer(let response) = result else { throw .unasked }
        return WriteResult(response)
    }

    /// The server and what it serves.
    ///
    /// - Parameter timeout: How long to wait; nil = that of the configuration.
    /// - Returns: What the server says of itself.
    /// - Throws: `ClientError`.
    public func serverInfo(timeout: Duration? = nil) async throws(ClientError) -> ServerInfo {
        let result = try await perform(.getServerInfo, timeout: timeout, isRepeatable: true)
        guard case .getServerInfo(let response) = result else { throw .unasked }
        return ServerInfo(response)
    }
}

extension ClientError {
    /// The answer to another call.
    static let unasked = ClientError.protocolViolation("an answer without the result asked for")
}
