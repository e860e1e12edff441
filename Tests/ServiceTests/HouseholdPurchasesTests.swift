import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct HouseholdPurchasesTests {
    private func period(_ range: Range<Int64>) -> Range<Timestamp> {
        Timestamp(milliseconds: range.lowerBound)..<Timestamp(milliseconds: range.upperBound)
    }

    @Test(arguments: 0..<100)
    func `it finds all that overlap and nothing else`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let members = (0..<3).map { _ in FactSet(random.history(countMax: 30)) }
        let purchases = HouseholdPurchases(members)
        let all = members.flatMap(\.values).compactMap { HouseholdPurchase($0.transaction) }
        #expect(
            purchases.newestSignedDate == all.map(\.signedDate.milliseconds).max() ?? .min)
        let shared = members.flatMap(\.values).map(\.transaction)
            .filter { $0.ownership == .familyShared }
        for copy in shared {
            guard let range = copy.period else { continue }
            let expected = all.filter {
                isSame($0.productID, copy.productID) && $0.period.overlaps(range)
            }
            #expect(
                Set(purchases.overlapping(copy.productID, range)) == Set(expected))
        }
    }

    @Test func `nobody bought nothing`() {
        #expect(HouseholdPurchases.none.newestSignedDate == .min)
        #expect(HouseholdPurchases.none.overlapping("p", period(0..<9)).isEmpty)
    }
}
