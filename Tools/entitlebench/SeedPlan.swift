internal import Entitlements

/// A population that is the same for the same seed, and of which everything can be computed for
/// any one customer from his number alone: who he is, what he bought, what a server has to answer.
///
/// Nothing is kept, so ten million customers cost no memory, and any process can check the answers
/// of a server that another one filled. What is right is worked out here and nowhere else: the
/// server's rules are not asked.
///
/// Customers come in groups of six. Three groups in ten are families: the first one bought, the
/// others have copies of it. One family in ten was refunded. In the other groups everybody bought
/// for himself, and of those
///
/// | share | what | answer |
/// | --- | --- | --- |
/// | 66 % | a subscription that runs until 2099 | ACTIVE |
/// | 22 % | one that ran out in 2025 | EXPIRED |
/// | 6 % | one whose renewal could not be paid | BILLING_RETRY |
/// | 6 % | one that was refunded | REFUNDED |
///
/// All instants are fixed, so an answer about "now" stays right until 2099, and all of them, like
/// all ids, ascend with the number of the customer: a bulk load never has to sort.
struct SeedPlan: Hashable, Sendable {
    /// The default number of an app's seed.
    static let seedDefault: UInt64 = 4_711
    /// Instants of one period ascend by a second per customer and must not reach the next one.
    static let customerCountMax = 16_000_000
    /// The ids of a customer's transactions are consecutive, in a block of 2^16.
    static let transactionCountMax = 65_536
    /// How many customers make a group.
    static let groupSize = 6
    /// What those bought who bought for themselves.
    static let soloProduct = "bench.plus.year"
    /// What families share.
    static let familyProduct = "bench.family.year"
    /// What the one with very many transactions bought.
    static let heavyProduct = "bench.heavy.day"

    /// Decides who is what.
    let seed: UInt64
    /// How many customers there are: numbers 0 ..< `customerCount`.
    let customerCount: Int
    /// How many transactions each has; within the bounds the seed decides, for a family together.
    let transactionCounts: ClosedRange<Int>
    /// Behind them there are so many customers more, who have `heavyTransactionCount` each.
    let heavyCustomerCount: Int
    /// How many transactions each of those has.
    let heavyTransactionCount: Int

    /// A population.
    ///
    /// - Precondition: at most `customerCountMax` customers, with 1 to `transactionCountMax`
    ///   transactions each, and not so much of both that instants of two periods meet.
    init(
        seed: UInt64 = seedDefault, customerCount: Int,
        transactionCounts: ClosedRange<Int> = 2...2, heavyCustomerCount: Int = 0,
        heavyTransactionCount: Int = 1
    ) {
        precondition((0...Self.customerCountMax).contains(customerCount), "so many customers")
        precondition(transactionCounts.lowerBound >= 1, "everybody has a transaction")
        precondition(
            max(transactionCounts.upperBound, heavyTransactionCount) <= Self.transactionCountMax,
            "so many transactions")
        self.seed = seed
        self.customerCount = customerCount
        self.transactionCounts = transactionCounts
        precondition(heavyCustomerCount >= 0 && heavyTransactionCount >= 1, "heavy ones")
        self.heavyCustomerCount = heavyCustomerCount
        self.heavyTransactionCount = heavyTransactionCount
        precondition(
            Int64(heavyCustomerCount) * SeedCalendar.step
                < SeedTransaction.periodMilliseconds(count: heavyTransactionCount),
            "so many heavy ones with so many transactions each")
        precondition(
            transactionCounts.upperBound == 1
                || Int64(customerCount) * SeedCalendar.step
                    < SeedTransaction.periodMilliseconds(count: transactionCounts.upperBound),
            "so many customers with so many transactions each")
    }

    /// All customers, the heavy ones too: who is in a store that was filled with the plan.
    var personCount: Int { customerCount + heavyCustomerCount }

    /// The numbers of those with very many transactions.
    var heavyIndices: Range<Int> { customerCount..<personCount }

    /// Whether customer `index` is one with very many transactions.
    func isHeavy(_ index: Int) -> Bool { heavyIndices.contains(index) }

    /// What a customer is.
    enum Kind: Hashable, Sendable, CaseIterable {
        case active, expired, retrying, refunded
        case familyBuyer, familyMember
        case refundedFamilyBuyer, refundedFamilyMember

        /// Whether he is in a family.
        var isFamily: Bool {
            switch self {
            case .active, .expired, .retrying, .refunded: false
            case .familyBuyer, .familyMember, .refundedFamilyBuyer, .refundedFamilyMember: true
            }
        }

        /// Whether he has copies of what another one bought.
        var isMember: Bool { self == .familyMember || self == .refundedFamilyMember }

        /// Whether his newest transaction was revoked.
        var isRevoked: Bool {
            switch self {
            case .refunded, .refundedFamilyBuyer, .refundedFamilyMember: true
            case .active, .expired, .retrying, .familyBuyer, .familyMember: false
            }
        }
    }

    /// What customer `index` is.
    func kind(of index: Int) -> Kind {
        if isHeavy(index) { return .active }
        let group = index / Self.groupSize
        let isFirst = index % Self.groupSize == 0
        switch random(UInt64(group), salt: 1) % 100 {
        case 0..<3: return isFirst ? .refundedFamilyBuyer : .refundedFamilyMember
        case 3..<30: return isFirst ? .familyBuyer : .familyMember
        default: break
        }
        return switch random(UInt64(index), salt: 2) % 100 {
        case 0..<66: .active
        case 66..<88: .expired
        case 88..<94: .retrying
        default: .refunded
        }
    }

    /// The app's name of customer `index`: 40 bytes.
    func name(of index: Int) -> String { "customer-" + padded(UInt64(index), digitCount: 31) }

    /// The product that customer `index` has transactions of.
    func product(of index: Int) -> String {
        if isHeavy(index) { return Self.heavyProduct }
        return kind(of: index).isFamily ? Self.familyProduct : Self.soloProduct
    }

    /// How many transactions customer `index` has.
    func transactionCount(of index: Int) -> Int {
        if isHeavy(index) { return heavyTransactionCount }
        let span = transactionCounts.upperBound - transactionCounts.lowerBound + 1
        guard span > 1 else { return transactionCounts.lowerBound }
        let group = UInt64(index / Self.groupSize)
        return transactionCounts.lowerBound + Int(random(group, salt: 3) % UInt64(span))
    }

    /// A number that `value` and the seed decide; `salt` tells the uses apart.
    func random(_ value: UInt64, salt: UInt64) -> UInt64 {
        var mixed = value &+ seed &* 0x9E37_79B9_7F4A_7C15 &+ salt &* 0xD1B5_4A32_D192_ED03
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// What a server has to say of a customer's product now.
struct SeedExpectation: Hashable, Sendable {
    /// Granted or why not.
    var reason: AccessReason
    /// Of the transaction behind the answer.
    var ownership: Ownership
    /// The product asked about.
    var productID: String
    /// The transaction behind the answer; empty where there is none.
    var transactionID: String
    /// Its chain; empty where there is none.
    var originalTransactionID: String
    /// When the answer flips by itself, in milliseconds since 1970; 0: never.
    var validUntil: Int64

    /// Whether access is granted.
    var isGranted: Bool { reason == .active }
    /// The reason's number on the wire.
    var reasonNumber: Int32 { Int32(reason.rawValue) }
    /// The ownership's number on the wire.
    var ownershipNumber: Int32 { Int32(ownership.rawValue) }
}

extension SeedPlan {
    /// What a server that was filled with this population has to answer about customer `index` and
    /// his product; somebody beyond the population is unknown to it.
    func expectation(of index: Int) -> SeedExpectation {
        let kind = kind(of: index)
        var expected = SeedExpectation(
            reason: .unknownCustomer, ownership: .unspecified, productID: product(of: index),
            transactionID: "", originalTransactionID: "", validUntil: 0)
        guard index < personCount else { return expected }
        expected.ownership = kind.isMember ? .familyShared : .purchased
        expected.transactionID = transactionID(of: index, period: lastPeriod(of: index))
        expected.originalTransactionID = transactionID(of: index, period: firstPeriod(of: index))
        switch kind {
        case .active, .familyBuyer, .familyMember:
            expected.reason = .active
            expected.validUntil = SeedCalendar.end
        case .expired: expected.reason = .expired
        case .retrying: expected.reason = .billingRetry
        case .refunded, .refundedFamilyBuyer: expected.reason = .refunded
        case .refundedFamilyMember: expected.reason = .familyRefunded
        }
        return expected
    }
}

/// Decimal digits with zeros in front.
func padded(_ number: UInt64, digitCount: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, digitCount - digits.utf8.count)) + digits
}
