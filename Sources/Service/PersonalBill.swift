import Entitlements
import Storage

/// Adds up what one person was served on a refunded purchase, and what went on after it.
struct PersonalBill {
    /// The last day whose use is no leak.
    let boundaryDay: UInt32
    let now: Timestamp
    let unitCostMicros: Int64

    private var days: Set<UInt32> = []
    private var leakedDays: Set<UInt32> = []
    private var used = UsageRecord()
    private var leaked = UsageRecord()
    private var leakedPeriods = 0
    /// The latest end of access so far; nil: one goes on.
    private var accessEnd: Timestamp? = .distantPast

    init(boundaryDay: UInt32, now: Timestamp, unitCostMicros: Int64) {
        self.boundaryDay = boundaryDay
        self.now = now
        self.unitCostMicros = unitCostMicros
    }

    /// Starts with the next person.
    mutating func clear() {
        self = PersonalBill(boundaryDay: boundaryDay, now: now, unitCostMicros: unitCostMicros)
    }

    /// Adds a transaction.
    ///
    /// - Parameters:
    ///   - use: what was granted on it, by day.
    ///   - period: what was bought or shared.
    ///   - end: when the server ended, or will end, the access; nil: never.
    ///   - isCovered: whether the refunded purchase covers the period; else only the leak counts.
    mutating func add(
        _ use: [(day: UInt32, use: UsageRecord)], period: Range<Timestamp>?, end: Timestamp?,
        isCovered: Bool
    ) {
        for (day, record) in use where record.checks > 0 {
            if day > boundaryDay {
                leakedDays.insert(day)
                leaked.add(record)
            } else if isCovered {
                days.insert(day)
                used.add(record)
            }
        }
        if let end, end <= now {
            accessEnd = accessEnd.map { max($0, end) }
        } else {
            accessEnd = nil
        }
        guard let period, boundaryDay < .max else { return }
        let leakStart = Timestamp(milliseconds: UTCDay.start(of: boundaryDay + 1))
        if max(period.lowerBound, leakStart) < min(end ?? now, now) { leakedPeriods += 1 }
    }

    /// What was added up, of the person whose first transaction is `transaction`.
    func personUse(
        of transaction: Transaction, customerID: String, _ confidence: FamilyConfidence
    ) -> PersonUse {
        PersonUse(
            customerID: customerID, transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID,
            ownership: transaction.ownership, confidence: confidence, days: days.count,
            checks: used.checks, units: used.units,
            costMicros: RefundMoney.cost(units: used.units, unitCostMicros: unitCostMicros),
            leakedDays: leakedDays.count, leakedChecks: leaked.checks, leakedUnits: leaked.units,
            leakedCostMicros: RefundMoney.cost(
                units: leaked.units, unitCostMicros: unitCostMicros),
            leakedPeriods: leakedPeriods, accessEndedAt: accessEnd?.milliseconds ?? 0)
    }
}
