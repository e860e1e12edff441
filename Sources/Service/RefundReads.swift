import Entitlements
import Storage

extension EntitlementService {
    /// How many records of ends one call looks at: a product that is rarely refunded must not make
    /// it read them all. The page is then short, and has a token.
    private static var scannedCountMax: Int { 20_000 }
    private static var chunkCountMax: Int { 1_000 }
    /// A page is cut when its answer is about so long, so that it fits a frame of 1 MiB.
    private static var pageByteCountMax: Int { 512 << 10 }

    /// One page of the bill, in the order of refunds.
    ///
    /// Worker threads: it reads the store. Each refund is of one moment; the whole page is of no
    /// revision before the one that it names.
    ///
    /// - Throws: INVALID_FIELD for a page token that is none, STORE_UNAVAILABLE, STORE_DAMAGED.
    func refunds(_ query: RefundQuery) throws(Refusal) -> RefundPage {
        let scope = world(query.page.scope).number
        var page = RefundPage(refunds: [], nextPageToken: "", revision: revision)
        var start = try start(of: query, in: scope)
        var scannedCount = 0
        var byteCount = 0
        while true {
            let chunk = try endings(from: start, before: query.to, in: scope)
            for (position, record) in chunk where record.isBilled(under: query) {
                if page.refunds.count == query.page.countMax || byteCount > Self.pageByteCountMax {
                    page.nextPageToken = RefundPageToken.text(start)
                    return page
                }
                start = Key.refund(position) + [0]
                guard let view = try refund(at: position, record) else { continue }
                byteCount += view.byteCount
                page.refunds.append(view)
            }
            guard chunk.count == Self.chunkCountMax, let last = chunk.last else { return page }
            start = Key.refund(last.position) + [0]
            scannedCount += chunk.count
            guard scannedCount < Self.scannedCountMax else {
                page.nextPageToken = RefundPageToken.text(start)
                return page
            }
        }
    }

    private func start(of query: RefundQuery, in scope: ScopeNumber) throws(Refusal) -> [UInt8] {
        let first = Key.refunds(from: query.from, in: scope)
        guard !query.page.pageToken.isEmpty else { return first }
        guard let key = RefundPageToken.key(query.page.pageToken),
            key.starts(with: Key.scopePrefix(scope))
        else {
            throw Refusal(.invalidField, "page_token is not one of this list's; start again")
        }
        return first.lexicographicallyPrecedes(key) ? key : first
    }

    /// The records from a key on, at most `chunkCountMax`, before an instant.
    private func endings(
        from start: [UInt8], before end: Timestamp, in scope: ScopeNumber
    ) throws(Refusal) -> [(position: RefundPosition, record: RefundRecord)] {
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        do throws(StorageError) {
            let prefix = Key.scopePrefix(scope)
            try store.scan(.refunds, prefix: prefix, from: start, reversed: false) { key, value in
                pairs.append((key, value))
                return pairs.count < Self.chunkCountMax
            }
            var found: [(position: RefundPosition, record: RefundRecord)] = []
            for (key, value) in pairs {
                let position = try Key.position(ofRefund: key)
                guard position.instant < end else { break }
                found.append((position, try RecordCodec.decodeRefund(value)))
            }
            return found
        } catch {
            throw Refusal(error)
        }
    }

    /// What is billed under a record; nil where it is on the bill of a purchase, or nothing is
    /// there any more.
    private func refund(
        at position: RefundPosition, _ record: RefundRecord
    ) throws(Refusal) -> RefundView? {
        let catalog = catalogs[position.customer.scope] ?? Catalog()
        let now = configuration.clock()
        return try readingStore { (workspace, _) throws(LedgerFailure) in
            var desk = RefundDesk(workspace: workspace, catalog: catalog, now: now)
            return try desk.view(of: position, record)
        }
    }
}

extension RefundRecord {
    /// Whether the bill may have a line for it: a payment went back, by its own evidence.
    fileprivate func isBilled(under query: RefundQuery) -> Bool {
        guard isPaymentReversed, endings[.revoked] != nil else { return false }
        return query.productID.isEmpty || isSame(productID, query.productID)
    }
}

extension RefundView {
    /// About how much it takes in an answer.
    fileprivate var byteCount: Int {
        people.reduce(400) {
            $0 + 160 + $1.customerID.utf8.count + $1.transactionID.utf8.count
                + $1.originalTransactionID.utf8.count
        }
    }
}

/// Where the next page starts: a key of `refunds`, as hexadecimal digits.
enum RefundPageToken {
    /// Scope, instant, customer, an id of the wire's length, and the byte that says "after it".
    private static let keyByteCountMax = 18 + 128 + 1

    static func text(_ key: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = key.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The key; nil where the text is no token.
    static func key(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.count >= 2 * 10,
            digits.count <= 2 * keyByteCountMax
        else { return nil }
        var key: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else {
                return nil
            }
            key.append(high << 4 | low)
        }
        return key
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
