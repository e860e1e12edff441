internal import Wire

extension Client {
    /// One page of the customers of a scope.
    ///
    /// - Parameters:
    ///   - revision: Only those whom this revision or a later one changed; 0 = all.
    ///   - pageToken: `nextPageToken` of the page before; empty: the first page.
    ///   - pageSize: How many at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: The page; `total` is the number of all customers.
    /// - Throws: `ClientError`; `.refused` with INVALID_FIELD for a token that is none.
    public func listCustomers(
        changedSince revision: UInt64 = 0, pageToken: String = "", pageSize: Int = 0,
        scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> ListPage<CustomerSummary> {
        var request = Message.ListCustomersRequest()
        request.changedSinceRevision = revision
        request.pageToken = Text(pageToken)
        request.pageSize = UInt32(clamping: pageSize)
        request.scope = wireScope(scope)
        let result = try await perform(
            .listCustomers(request), timeout: timeout, isRepeatable: true)
        guard case .listCustomers(let page) = result else { throw .unasked }
        return ListPage(page)
    }

    /// All customers of a scope, page by page.
    ///
    /// - Parameters:
    ///   - revision: Only those whom this revision or a later one changed; 0 = all.
    ///   - pageToken: `nextPageToken` of the page to go on from; empty: from the start.
    ///   - pageSize: How many a page at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    /// - Returns: The pages; nothing is asked before the first is taken.
    public func customerPages(
        changedSince revision: UInt64 = 0, from pageToken: String = "", pageSize: Int = 0,
        scope: Scope? = nil
    ) -> Pages<ListPage<CustomerSummary>> {
        Pages(from: pageToken) { (token) async throws(ClientError) in
            let page = try await self.listCustomers(
                changedSince: revision, pageToken: token, pageSize: pageSize, scope: scope)
            return (page, page.nextPageToken)
        }
    }

    /// Who shares purchases with a customer, as declared and as matched.
    ///
    /// - Parameters:
    ///   - customer: Who.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: His household and his likely families.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER.
    public func family(
        of customer: CustomerReference, scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> Family {
        var request = Message.GetFamilyRequest()
        request.customer = Message.CustomerRef(customer)
        return try await family(request, scope, timeout)
    }

    /// Who belongs to a declared household.
    ///
    /// - Parameters:
    ///   - household: Its name.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Its members.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER where nobody belongs to it.
    public func family(
        household: String, scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> Family {
        var request = Message.GetFamilyRequest()
        request.householdID = Text(household)
        return try await family(request, scope, timeout)
    }

    private func family(
        _ request: Message.GetFamilyRequest, _ scope: Scope?, _ timeout: Duration?
    ) async throws(ClientError) -> Family {
        var request = request
        request.scope = wireScope(scope)
        let result = try await perform(.getFamily(request), timeout: timeout, isRepeatable: true)
        guard case .getFamily(let response) = result else { throw .unasked }
        return Family(response)
    }

    /// The scope of a call that may name none.
    func wireScope(_ scope: Scope?) -> Message.Scope? {
        (scope ?? configuration.scope).map { Message.Scope($0) }
    }
}

extension Client {
    /// One page of those who still have access on a refunded purchase.
    ///
    /// - Parameters:
    ///   - pageToken: `nextPageToken` of the page before; empty: the first page.
    ///   - pageSize: How many at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: The page. One without findings may have others behind it.
    /// - Throws: `ClientError`; `.refused` with INVALID_FIELD for a token that is none.
    public func auditAccess(
        pageToken: String = "", pageSize: Int = 0, scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> ListPage<AccessFinding> {
        var request = Message.AuditAccessRequest()
        request.pageToken = Text(pageToken)
        request.pageSize = UInt32(clamping: pageSize)
        request.scope = wireScope(scope)
        let result = try await perform(.auditAccess(request), timeout: timeout, isRepeatable: true)
        guard case .auditAccess(let page) = result else { throw .unasked }
        return ListPage(page)
    }

    /// All who still have access on a refunded purchase, page by page.
    ///
    /// - Parameters:
    ///   - pageToken: `nextPageToken` of the page to go on from; empty: from the start.
    ///   - pageSize: How many a page at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    /// - Returns: The pages; nothing is asked before the first is taken.
    public func auditPages(
        from pageToken: String = "", pageSize: Int = 0, scope: Scope? = nil
    ) -> Pages<ListPage<AccessFinding>> {
        Pages(from: pageToken) { (token) async throws(ClientError) in
            let page = try await self.auditAccess(
                pageToken: token, pageSize: pageSize, scope: scope)
            return (page, page.nextPageToken)
        }
    }

    /// One page of the bill: refunded payments in the order of their refunds.
    ///
    /// - Parameters:
    ///   - filter: Which refunds.
    ///   - pageToken: `nextPageToken` of the page before; empty: the first page.
    ///   - pageSize: How many at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: The page.
    /// - Throws: `ClientError`; `.refused` with INVALID_FIELD for a token that is none, or a filter
    ///   whose end is not after its beginning.
    public func listRefunds(
        _ filter: RefundFilter = RefundFilter(), pageToken: String = "", pageSize: Int = 0,
        scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> ListPage<RefundRecord> {
        var request = Message.ListRefundsRequest()
        request.fromMilliseconds = filter.fromMilliseconds ?? 0
        request.toMilliseconds = filter.toMilliseconds ?? 0
        request.productID = Text(filter.productID)
        request.pageToken = Text(pageToken)
        request.pageSize = UInt32(clamping: pageSize)
        request.scope = wireScope(scope)
        let result = try await perform(.listRefunds(request), timeout: timeout, isRepeatable: true)
        guard case .listRefunds(let page) = result else { throw .unasked }
        return ListPage(page)
    }

    /// The whole bill, page by page.
    ///
    /// - Parameters:
    ///   - filter: Which refunds.
    ///   - pageToken: `nextPageToken` of the page to go on from; empty: from the start.
    ///   - pageSize: How many a page at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    /// - Returns: The pages; nothing is asked before the first is taken.
    public func refundPages(
        _ filter: RefundFilter = RefundFilter(), from pageToken: String = "", pageSize: Int = 0,
        scope: Scope? = nil
    ) -> Pages<ListPage<RefundRecord>> {
        Pages(from: pageToken) { (token) async throws(ClientError) in
            let page = try await self.listRefunds(
                filter, pageToken: token, pageSize: pageSize, scope: scope)
            return (page, page.nextPageToken)
        }
    }
}

/// Which refunds a bill is about.
public struct RefundFilter: Hashable, Sendable {
    /// Refunded at this instant or later, milliseconds since 1970; nil = from the beginning.
    public var fromMilliseconds: Int64?
    /// Refunded before this instant, milliseconds since 1970; nil = to the end.
    public var toMilliseconds: Int64?
    /// Of this product; empty = of all.
    public var productID: String

    /// A filter; by default every refund.
    public init(
        fromMilliseconds: Int64? = nil, toMilliseconds: Int64? = nil, productID: String = ""
    ) {
        self.fromMilliseconds = fromMilliseconds
        self.toMilliseconds = toMilliseconds
        self.productID = productID
    }
}
