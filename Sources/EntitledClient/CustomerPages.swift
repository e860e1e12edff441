internal import EventLoop
internal import Wire

extension Client {
    /// A customer who changes while his pages are read is read again so often.
    private static let readingCountMax = 4

    /// All that the server knows of one customer.
    ///
    /// A long history comes in several answers, which are put together here.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - withPayloads: Whether every transaction comes with its signed payload; without it those
    ///     of the newest come.
    ///   - timeout: How long to wait for the whole; nil = that of the configuration.
    /// - Returns: The customer.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER.
    public func customer(
        _ customer: CustomerReference, scope: Scope? = nil, withPayloads: Bool = false,
        timeout: Duration? = nil
    ) async throws(ClientError) -> Customer {
        var request = Message.GetCustomerRequest()
        request.customer = Message.CustomerRef(customer)
        request.allPayloads = withPayloads
        request.scope = (scope ?? configuration.scope).map { Message.Scope($0) }
        let allowed = timeout ?? configuration.timeout
        let deadline = MonotonicClock.nowMilliseconds + UInt64(allowed.wireMilliseconds)
        for _ in 0..<Self.readingCountMax {
            if let all = try await pages(of: request, until: deadline) { return all }
        }
        throw .protocolViolation("the pages of a customer never came to their total")
    }

    /// A customer page by page, for histories that are better not held whole.
    ///
    /// What is not on every page is on the first. A customer who changes meanwhile may be refused
    /// with INVALID_FIELD: start again then.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - withPayloads: Whether every transaction comes with its signed payload; without it those
    ///     of the newest come.
    /// - Returns: The pages, each a customer with the transactions of the page; nothing is asked
    ///   before the first is taken.
    public func customerPages(
        of customer: CustomerReference, scope: Scope? = nil, withPayloads: Bool = false
    ) -> Pages<Customer> {
        Pages(from: "") { (token) async throws(ClientError) in
            var request = Message.GetCustomerRequest()
            request.customer = Message.CustomerRef(customer)
            request.allPayloads = withPayloads
            request.scope = (scope ?? self.configuration.scope).map { Message.Scope($0) }
            request.pageToken = Text(token)
            let result = try await self.perform(
                .getCustomer(request), timeout: nil, isRepeatable: true)
            guard case .getCustomer(let page) = result else { throw .unasked }
            return (Customer(firstPage: page), page.nextPageToken.description)
        }
    }

    /// All pages put together; nil when the customer changed meanwhile.
    private func pages(
        of request: Message.GetCustomerRequest, until deadlineMilliseconds: UInt64
    ) async throws(ClientError) -> Customer? {
        var request = request
        var customer: Customer?
        while true {
            let now = MonotonicClock.nowMilliseconds
            guard now < deadlineMilliseconds else { throw .deadlineExceeded }
            let result = try await perform(
                .getCustomer(request), timeout: .milliseconds(deadlineMilliseconds - now),
                isRepeatable: true)
            guard case .getCustomer(let page) = result else { throw .unasked }
            if customer?.append(page) == nil { customer = Customer(firstPage: page) }
            if page.nextPageToken.isEmpty {
                let isWhole = customer?.transactions.count == Int(page.transactionsTotal)
                return isWhole ? customer : nil
            }
            guard page.nextPageToken != request.pageToken else {
                throw .protocolViolation("a page that leads to itself")
            }
            request.pageToken = page.nextPageToken
        }
    }
}

extension Customer {
    init(firstPage page: Message.GetCustomerResponse) {
        customerID = page.customerID.description
        entitlements = page.entitlements.map { Entitlement($0) }
        transactions = page.transactions.map { TransactionRecord($0) }
        notifications = page.notifications.map { NotificationRecord($0) }
        identities = page.identities.map(\.description)
        householdID = page.householdID.isEmpty ? nil : page.householdID.description
        audit = page.audit.map { AuditEntry($0) }
        revision = page.revision
        refreshedAtMilliseconds = AccessAnswer.instant(page.refreshedAtMilliseconds)
        queuedRefresh = page.queuedRefresh.map { QueuedRefresh($0) }
        links = page.links.compactMap { link in
            link.identity.map {
                LinkedIdentity(
                    identity: CustomerReference($0),
                    movedAtRevision: link.movedAtRevision == 0 ? nil : link.movedAtRevision)
            }
        }
    }

    /// Adds a further page.
    mutating func append(_ page: Message.GetCustomerResponse) {
        transactions += page.transactions.map { TransactionRecord($0) }
        notifications += page.notifications.map { NotificationRecord($0) }
    }
}
