internal import Entitlements
internal import LoadGenerator

extension SeedPlan {
    /// The population as check workloads need it: the answers of `expectation(of:)`, by a few
    /// shapes and series, so that the generator works one out without a text.
    ///
    /// - Precondition: there is a customer, and at most 1,024 different numbers of transactions.
    func checkPopulation(of app: SeedApp = SeedApp()) -> CheckPopulation {
        let countSpan = transactionCounts.count
        precondition(customerCount > 0 && countSpan <= 1_024)
        let plan = self
        let place: @Sendable (Int) -> Int = { index in
            let kind = Self.place(of: plan.kind(of: index))
            guard countSpan > 1 else { return kind }
            return kind * countSpan + plan.transactionCount(of: index)
                - plan.transactionCounts.lowerBound
        }
        // One customer of each shape stands for all: from him the series begin. A shape that nobody
        // has is never asked about.
        var shapes: [CheckPopulation.Shape?] = Array(
            repeating: nil, count: Kind.allCases.count * countSpan)
        var missingCount = shapes.count
        for index in 0..<customerCount {
            guard missingCount > 0 else { break }
            let place = place(index)
            guard shapes[place] == nil else { continue }
            shapes[place] = shape(of: index)
            missingCount -= 1
        }
        let nobody = shape(of: 0)
        return CheckPopulation(
            bundleID: app.bundleID, customerCount: customerCount, namePrefix: "customer-",
            nameDigitCount: Self.nameDigitCount, shapes: shapes.map { $0 ?? nobody },
            shape: place)
    }

    /// Customers whom nobody has heard of.
    func unknownPopulation(of app: SeedApp = SeedApp()) -> CheckPopulation {
        let expected = expectation(of: customerCount)
        return CheckPopulation(
            bundleID: app.bundleID, customerCount: max(1, customerCount), namePrefix: "stranger-",
            nameDigitCount: Self.nameDigitCount,
            shapes: [
                CheckPopulation.Shape(
                    productID: expected.productID, granted: expected.isGranted,
                    reason: Int32(expected.reason.rawValue),
                    ownership: Int32(expected.ownership.rawValue),
                    validUntilMilliseconds: expected.validUntil,
                    answeredProductID: expected.productID, transactionIDs: nil,
                    originalTransactionIDs: nil)
            ],
            shape: { _ in 0 })
    }

    /// Digits of a name, zeros in front among them.
    private static let nameDigitCount = 31

    private static func place(of kind: Kind) -> Int {
        switch kind {
        case .active: 0
        case .expired: 1
        case .retrying: 2
        case .refunded: 3
        case .familyBuyer: 4
        case .familyMember: 5
        case .refundedFamilyBuyer: 6
        case .refundedFamilyMember: 7
        }
    }

    /// The shape of customer `index` and of all who are like him.
    private func shape(of index: Int) -> CheckPopulation.Shape {
        let expected = expectation(of: index)
        return CheckPopulation.Shape(
            productID: expected.productID, granted: expected.isGranted,
            reason: Int32(expected.reason.rawValue),
            ownership: Int32(expected.ownership.rawValue),
            validUntilMilliseconds: expected.validUntil, answeredProductID: expected.productID,
            transactionIDs: series(expected.transactionID, of: index),
            originalTransactionIDs: series(expected.originalTransactionID, of: index))
    }

    /// The series that has this number for customer `index`.
    private func series(_ text: String, of index: Int) -> CheckPopulation.Series? {
        guard let number = UInt64(text),
            let first = UInt64(transactionID(of: 0, period: 0)),
            let second = UInt64(transactionID(of: 1, period: 0))
        else { return nil }
        let step = second - first
        return CheckPopulation.Series(first: number - step * UInt64(index), step: step)
    }
}
