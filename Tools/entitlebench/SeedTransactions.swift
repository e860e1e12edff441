internal import Entitlements

/// The instants of a population, in milliseconds since 1970.
enum SeedCalendar {
    /// 2025-01-01: when the newest period of the first customer was bought.
    static let lastPurchase: Int64 = 1_735_689_600_000
    /// 2025-08-01: when the first customer's payment would have gone back; past all purchases.
    static let refund: Int64 = 1_754_006_400_000
    /// 2099-01-01: the end of what runs.
    static let end: Int64 = 4_070_908_800_000
    /// How much later each next customer does the same.
    static let step: Int64 = 1_000
    /// How long a last period that has run out took: 30 days.
    static let shortPeriod: Int64 = 30 * 86_400_000
    /// Periods are a year long while they fit into 14 of them: no certificate of a test authority
    /// was valid before 2010.
    static let year: Int64 = 365 * 86_400_000
    static let span: Int64 = 14 * year
}

/// One transaction of the population, with what Apple would say of it.
struct SeedTransaction: Hashable, Sendable {
    var transactionID: String
    var originalTransactionID: String
    var productID: String
    var isShared: Bool
    var purchaseDate: Int64
    var expiresDate: Int64
    /// 0: not revoked.
    var revocationDate: Int64
    var signedDate: Int64
    /// Nil where the buyer's app set none.
    var appAccountToken: String?
    var appTransactionID: String
    /// Nil in families: that they are recognised has to rest on product and dates.
    var lineItemID: String?

    /// From one purchase to the next one of a chain of so many.
    static func periodMilliseconds(count: Int) -> Int64 {
        min(SeedCalendar.year, SeedCalendar.span / Int64(count))
    }
}

/// What Apple would say of a subscription whose renewal could not be paid.
struct SeedRenewal: Hashable, Sendable {
    let originalTransactionID: String
    let productID: String
    let renewalDate: Int64
    let signedDate: Int64
    /// Whether Apple tries to get the payment.
    let isRetrying: Bool
}

extension SeedPlan {
    /// The number of the newest period of customer `index`; for all but the heavy one the same.
    func lastPeriod(of index: Int) -> Int {
        (isHeavy(index) ? heavyTransactionCount : transactionCounts.upperBound) - 1
    }

    /// The number of the period of the first transaction of customer `index`.
    func firstPeriod(of index: Int) -> Int {
        lastPeriod(of: index) + 1 - transactionCount(of: index)
    }

    /// The id of a transaction: 15 digits, ascending with the customer and with the period.
    func transactionID(of index: Int, period: Int) -> String {
        String(200_000_000_000_000 + UInt64(index) << 16 + UInt64(period))
    }

    /// The Apple Account of customer `index` in the app: 15 digits.
    func appTransactionID(of index: Int) -> String { String(700_000_000_000_000 + UInt64(index)) }

    /// Whose dates customer `index` has: in a family, the buyer's.
    private func dated(_ index: Int, _ kind: Kind) -> Int64 {
        Int64(kind.isFamily ? index - index % Self.groupSize : index) * SeedCalendar.step
    }

    /// The transactions of customer `index`, oldest first.
    func transactions(of index: Int) -> [SeedTransaction] {
        let kind = kind(of: index)
        return (firstPeriod(of: index)...lastPeriod(of: index)).map {
            transaction(of: index, kind, period: $0)
        }
    }

    private func transaction(of index: Int, _ kind: Kind, period: Int) -> SeedTransaction {
        let last = lastPeriod(of: index)
        let isLast = period == last
        let offset = dated(index, kind)
        let length = SeedTransaction.periodMilliseconds(count: last + 1)
        let purchase = SeedCalendar.lastPurchase + offset - Int64(last - period) * length
        let isRevoked = isLast && kind.isRevoked
        let revocation = isRevoked ? SeedCalendar.refund + offset : 0
        return SeedTransaction(
            transactionID: transactionID(of: index, period: period),
            originalTransactionID: transactionID(of: index, period: firstPeriod(of: index)),
            productID: product(of: index),
            isShared: kind.isMember, purchaseDate: purchase,
            expiresDate: isLast ? end(of: kind, from: purchase) : purchase + length,
            revocationDate: revocation,
            signedDate: isRevoked ? revocation + 4_000 : purchase + 3_000,
            appAccountToken: token(of: index, kind),
            appTransactionID: appTransactionID(of: index),
            lineItemID: kind.isFamily
                ? nil : String(900_000_000_000_000 + UInt64(index) << 16 + UInt64(period)))
    }

    private func end(of kind: Kind, from purchase: Int64) -> Int64 {
        switch kind {
        case .expired, .retrying: purchase + SeedCalendar.shortPeriod
        default: SeedCalendar.end
        }
    }

    /// Every second one who bought for himself has a token: a UUID of version 4 that ascends with
    /// the customer.
    func token(of index: Int, _ kind: Kind) -> String? {
        let bits = random(UInt64(index), salt: 4)
        guard !kind.isFamily, bits & 1 == 1 else { return nil }
        let digits = hex(UInt64(index), digitCount: 8) + hex(bits, digitCount: 16)
        let parts = Array(digits)
        return String(parts[0..<8]) + "-" + String(parts[8..<12]) + "-4" + String(parts[12..<15])
            + "-8" + String(parts[15..<18]) + "-" + String(parts[18..<24]) + "000000"
    }

    /// The renewal info of customer `index`; nil for most.
    func renewal(of index: Int) -> SeedRenewal? {
        let kind = kind(of: index)
        guard kind == .retrying else { return nil }
        let last = transaction(of: index, kind, period: lastPeriod(of: index))
        return SeedRenewal(
            originalTransactionID: last.originalTransactionID, productID: last.productID,
            renewalDate: last.expiresDate, signedDate: last.expiresDate + 60_000, isRetrying: true)
    }
}

/// Hexadecimal digits in lower case with zeros in front.
private func hex(_ number: UInt64, digitCount: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digitCount - digits.utf8.count)) + digits
}

// MARK: - As the server keeps it

extension SeedTransaction {
    /// The fact that a server decodes from the signed copy, without a recognised family.
    var fact: TransactionFact {
        var transaction = Transaction(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            productID: productID, rawType: "Auto-Renewable Subscription",
            rawOwnership: isShared ? "FAMILY_SHARED" : "PURCHASED",
            purchaseDate: Timestamp(milliseconds: purchaseDate),
            signedDate: Timestamp(milliseconds: signedDate))
        transaction.expiresDate = Timestamp(milliseconds: expiresDate)
        transaction.appAccountToken = appAccountToken
        transaction.appTransactionID = appTransactionID
        transaction.webOrderLineItemID = lineItemID
        transaction.subscriptionGroupID = "21000001"
        transaction.price = isShared ? nil : 9_990
        transaction.currency = isShared ? nil : "EUR"
        var evidence = Evidence()
        if revocationDate != 0 {
            transaction.revocationDate = Timestamp(milliseconds: revocationDate)
            transaction.revocationReason = 0
            transaction.revocationType = "REFUND_FULL"
            transaction.revocationPercentage = 100_000
            evidence.datedCopy = transaction.signedDate
        }
        return TransactionFact(transaction: transaction, evidence: evidence)
    }
}

extension SeedRenewal {
    /// The fact that a server decodes from the signed copy.
    var fact: RenewalInfo {
        var renewal = RenewalInfo(
            originalTransactionID: originalTransactionID,
            signedDate: Timestamp(milliseconds: signedDate))
        renewal.productID = productID
        renewal.autoRenewProductID = productID
        renewal.autoRenewStatus = 1
        renewal.isInBillingRetryPeriod = isRetrying
        renewal.renewalDate = Timestamp(milliseconds: renewalDate)
        renewal.expirationIntent = isRetrying ? 2 : nil
        return renewal
    }
}
