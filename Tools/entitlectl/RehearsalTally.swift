internal import EntitledClient
internal import ToolSupport

/// What was granted in the drill, by product, person and day of UTC: a bill of it is known without
/// asking the server.
struct RehearsalTally: Sendable {
    /// What every check of the drill is said to cost.
    static let unitsPerCheck: UInt64 = 3

    /// Checks by product, user id and day since 1970.
    private var checks: [Product: [String: [Int64: UInt64]]] = [:]

    /// Counts a check that was granted at an instant, milliseconds since 1970.
    mutating func count(_ product: Product, _ person: Person, at instant: Int64) {
        let day = Self.day(instant)
        checks[product, default: [:]][person.userID, default: [:]][day, default: 0] += 1
    }

    /// The use of one person, before and after the end of a day.
    struct Use: Equatable, Sendable {
        var dayCount = 0
        var checkCount: UInt64 = 0

        var units: UInt64 { checkCount * RehearsalTally.unitsPerCheck }
    }

    /// What `person` was served up to the day of a refund, and after it.
    func use(
        _ product: Product, _ person: Person, refundedAt instant: Int64
    ) -> (served: Use, leaked: Use) {
        let lastDay = Self.day(instant)
        var (served, leaked) = (Use(), Use())
        for (day, count) in checks[product]?[person.userID] ?? [:] {
            if day > lastDay {
                leaked.dayCount += 1
                leaked.checkCount += count
            } else {
                served.dayCount += 1
                served.checkCount += count
            }
        }
        return (served, leaked)
    }

    /// The day of an instant, since 1970.
    static func day(_ instant: Int64) -> Int64 { instant / 86_400_000 }
}

/// A line that the bill must have.
struct ExpectedBill: Sendable {
    /// What was refunded: the payment, or a copy whose payment nobody knows.
    let purchase: Purchase
    let refundedMilliseconds: Int64
    /// When the server was told of it.
    let learnedMilliseconds: Int64
    /// Who used it, he who has `purchase` first.
    let people: [Person]
}

extension ExpectedBill {
    /// What is wrong with the bill of one product, against `expected`.
    static func complaints(
        _ bill: [RefundRecord], _ expected: [ExpectedBill], _ tally: RehearsalTally
    ) -> [String] {
        var complaints: [String] = []
        if bill.count != expected.count {
            complaints.append("the bill has \(bill.count) lines; right is \(expected.count)")
        }
        for line in expected {
            let id = line.purchase.transactionID.utf8
            if let record = bill.first(where: { $0.transactionID.utf8.elementsEqual(id) }) {
                complaints += line.complaints(record, tally)
            } else {
                complaints.append("\(line.purchase.owner.name)'s refund is not on the bill")
            }
        }
        return complaints
    }

    private func complaints(_ record: RefundRecord, _ tally: RehearsalTally) -> [String] {
        let name = purchase.owner.name
        var findings = Findings()
        findings.compare(
            "\(name)'s refund, paid back", record.refundedMilliunits, purchase.priceMilliunits)
        findings.compare(
            "\(name)'s refund, date", record.refundedAtMilliseconds, refundedMilliseconds)
        findings.compare(
            "\(name)'s payment is unknown", record.isPurchaseUnknown, purchase.isShared)
        findings.compare("\(name)'s refund, people", record.people.count, people.count)
        for person in people {
            let use = record.people.first { $0.customerID.utf8.elementsEqual(person.userID.utf8) }
            if let use {
                compare(use, of: person, tally, &findings)
            } else {
                findings.complaints.append("\(person.name) is not on the bill")
            }
        }
        return findings.complaints
    }

    private func compare(
        _ said: PersonUse, of person: Person, _ tally: RehearsalTally, _ findings: inout Findings
    ) {
        let name = person.name
        let (served, leaked) = tally.use(
            purchase.product, person, refundedAt: refundedMilliseconds)
        let cost = purchase.product.unitCostMicros
        findings.compare("\(name), days", said.dayCount, served.dayCount)
        findings.compare("\(name), checks", said.checkCount, served.checkCount)
        findings.compare("\(name), units", said.units, served.units)
        findings.compare("\(name), cost", said.costMicros, Int64(served.units) * cost)
        findings.compare("\(name), leaked days", said.leakedDayCount, leaked.dayCount)
        findings.compare("\(name), leaked checks", said.leakedCheckCount, leaked.checkCount)
        findings.compare("\(name), leaked units", said.leakedUnits, leaked.units)
        findings.compare("\(name), leaked cost", said.leakedCostMicros, Int64(leaked.units) * cost)
        findings.compare(
            "\(name), leaked periods", said.leakedPeriodCount,
            RehearsalTally.day(learnedMilliseconds) > RehearsalTally.day(refundedMilliseconds)
                ? 1 : 0)
        findings.compare("\(name) goes on", said.accessEndedAtMilliseconds == nil, false)
    }
}

/// What differs.
private struct Findings {
    var complaints: [String] = []

    mutating func compare<Value: Equatable>(_ what: String, _ said: Value, _ right: Value) {
        if said != right { complaints.append("\(what): \(said); right is \(right)") }
    }
}
