import Entitlements
import LoadGenerator
import Testing

@testable import entitlebench

@Suite struct SeedChecksTests {
    @Test(arguments: [2...2, 1...1, 1...4, 3...9])
    func `every customer's shape and series say what the population expects`(
        counts: ClosedRange<Int>
    ) throws {
        let seed = SeedPlan(seed: 5, customerCount: 3_000, transactionCounts: counts)
        let population = seed.checkPopulation()
        for index in 0..<3_000 {
            let expected = seed.expectation(of: index)
            let shape = population.shapes[population.shape(index)]
            #expect(shape.productID == expected.productID)
            #expect(shape.granted == expected.isGranted)
            #expect(shape.reason == Int32(expected.reason.rawValue))
            #expect(shape.ownership == Int32(expected.ownership.rawValue))
            #expect(shape.validUntilMilliseconds == expected.validUntil)
            func text(_ series: CheckPopulation.Series?) -> String {
                series.map { "\($0.first + $0.step * UInt64(index))" } ?? ""
            }
            #expect(text(shape.transactionIDs) == expected.transactionID)
            #expect(text(shape.originalTransactionIDs) == expected.originalTransactionID)
            let digits = String(index)
            let name =
                population.namePrefix
                + String(repeating: "0", count: population.nameDigitCount - digits.utf8.count)
                + digits
            #expect(name == seed.name(of: index))
        }
    }

    @Test func `strangers are no customers`() {
        let seed = SeedPlan(customerCount: 100)
        let population = seed.unknownPopulation()
        #expect(population.shapes.count == 1)
        #expect(!population.shapes[0].granted)
        #expect(population.shapes[0].transactionIDs == nil)
        #expect(!seed.name(of: 0).hasPrefix(population.namePrefix))
    }
}
