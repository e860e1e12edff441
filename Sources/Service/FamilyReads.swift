import Entitlements
import Storage

extension EntitlementService {
    /// How many records of ends one page of the audit looks at: where hardly anybody is left with
    /// access it must not read them all. The page is then short, and has a token.
    private static var scannedCountMax: Int { 20_000 }
    private static var chunkCountMax: Int { 1_000 }
    /// A page is cut when its answer is about so long, so that it fits a frame of 1 MiB.
    private static var pageByteCountMax: Int { 512 << 10 }

    /// Who shares with a customer, or within a household.
    ///
    /// Worker threads: it reads the store. Of long histories the oldest copies are left out, which
    /// `warnings` says.
    ///
    /// - Throws: UNKNOWN_CUSTOMER, also for a household that nobody is in; INVALID_FIELD when
    ///   neither is named; STORE_UNAVAILABLE, STORE_DAMAGED.
    func family(_ query: FamilyQuery) throws(Refusal) -> FamilyView {
        let scope = world(query.scope).number
        let (catalog, clock) = (catalogs[scope] ?? Catalog(), configuration.clock())
        return try readingStore { (workspace, revision) throws(LedgerFailure) in
            var desk = FamilyDesk(workspace: workspace, catalog: catalog, clock: clock)
            return try desk.view(query, in: scope, revision: revision)
        }
    }

    /// One page of those who still have access on a refunded purchase, in the order of refunds.
    ///
    /// Worker threads: it reads the store. What is said of one purchase is of one moment; the whole
    /// page is of no revision before the one that it names.
    ///
    /// - Throws: INVALID_FIELD for a page token that is none, STORE_UNAVAILABLE, STORE_DAMAGED.
    func audit(_ query: PageQuery) throws(Refusal) -> AuditPage {
        let scope = world(query.scope).number
        var page = AuditPage(findings: [], nextPageToken: "", revision: revision)
        var position = try AuditPosition(query.pageToken, in: scope)
        var scannedCount = 0
        var byteCount = 0
        while true {
            let chunk = try refundedPurchases(from: position.key, in: scope)
            for purchase in chunk.purchases {
                let key = Key.refund(purchase)
                if key != position.key { position = AuditPosition(key: key) }
                let findings = try findings(on: purchase)
                for finding in findings.dropFirst(position.offset) {
                    if page.findings.count == query.countMax || byteCount > Self.pageByteCountMax {
                        page.nextPageToken = position.text
                        return page
                    }
                    byteCount += finding.byteCount
                    page.findings.append(finding)
                    position.offset += 1
                }
            }
            guard let next = chunk.next else { return page }
            position = AuditPosition(key: next)
            scannedCount += Self.chunkCountMax
            guard scannedCount < Self.scannedCountMax else {
                page.nextPageToken = position.text
                return page
            }
        }
    }

    /// The refunded purchases among the next records of ends, and where the records after them
    /// start; nil after the last.
    private func refundedPurchases(
        from start: [UInt8], in scope: ScopeNumber
    ) throws(Refusal) -> (purchases: [RefundPosition], next: [UInt8]?) {
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        do throws(StorageError) {
            let prefix = Key.scopePrefix(scope)
            try store.scan(.refunds, prefix: prefix, from: start, reversed: false) { key, value in
                pairs.append((key, value))
                return pairs.count < Self.chunkCountMax
            }
            var purchases: [RefundPosition] = []
            for (key, value) in pairs {
                let record = try RecordCodec.decodeRefund(value)
                guard record.ownership == .purchased, record.isPaymentReversed else { continue }
                purchases.append(try Key.position(ofRefund: key))
            }
            let isWhole = pairs.count == Self.chunkCountMax
            return (purchases, isWhole ? pairs.last.map { $0.key + [0] } : nil)
        } catch {
            throw Refusal(error)
        }
    }

    private func findings(on purchase: RefundPosition) throws(Refusal) -> [AccessFinding] {
        let catalog = catalogs[purchase.customer.scope] ?? Catalog()
        let clock = configuration.clock()
        return try readingStore { (workspace, _) throws(LedgerFailure) in
            var desk = FamilyDesk(workspace: workspace, catalog: catalog, clock: clock)
            return try desk.findings(on: purchase)
        }
    }
}

extension AccessFinding {
    /// About how much it takes in an answer.
    fileprivate var byteCount: Int {
        200 + copy.byteCount + purchase.byteCount + explanation.utf8.count
    }
}

/// Where a page of the audit starts: at the findings of one refunded purchase, some of which an
/// earlier page may have told.
struct AuditPosition: Hashable, Sendable {
    /// In `refunds`.
    var key: [UInt8]
    /// How many of its findings were told.
    var offset = 0

    init(key: [UInt8]) { self.key = key }

    /// The position that a token stands for; empty is where the list begins.
    ///
    /// - Throws: INVALID_FIELD for what no page has given out.
    init(_ token: String, in scope: ScopeNumber) throws(Refusal) {
        guard !token.isEmpty else {
            self.init(key: Key.scopePrefix(scope))
            return
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let key = RefundPageToken.key(String(parts[0])),
            key.starts(with: Key.scopePrefix(scope)), let offset = UInt32(parts[1])
        else {
            throw Refusal(.invalidField, "page_token is not one of this list's; start again")
        }
        self.init(key: key)
        self.offset = Int(offset)
    }

    /// The token that stands for it.
    var text: String { "\(RefundPageToken.text(key)).\(offset)" }
}
