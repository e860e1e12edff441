import Testing

@testable import Simulation

@Suite struct FaultsTests {
    @Test func `a seed decides its plan`() {
        let (one, other) = (
            SimulationPlan(seed: 9, eventCount: 10), SimulationPlan(seed: 9, eventCount: 10)
        )
        #expect(one.faults == other.faults)
        #expect(one.operations == other.operations)
        #expect(one.clientCount == other.clientCount)
    }

    @Test func `every kind is there with some seeds and missing with others`() {
        let plans = (UInt64(1)...200).map { SimulationPlan(seed: $0, eventCount: 10) }
        for fault in FaultKind.allCases {
            let count = plans.count { $0.faults.contains(fault) }
            #expect(count > 20 && count < 180, "\(fault)")
        }
        for operation in OperationKind.allCases where ![.purchase, .check].contains(operation) {
            let count = plans.count { $0.operations.contains(operation) }
            #expect(count > 20 && count < 190, "\(operation)")
        }
        #expect(plans.contains { $0.faults.isEmpty })
        #expect(plans.allSatisfy { $0.operations.isSuperset(of: [.purchase, .check]) })
    }

    @Test(arguments: Canary.allCases)
    func `a bug gets what it needs to show`(canary: Canary) {
        let plan = SimulationPlan(seed: 1, eventCount: 10, canary: canary)
        #expect(plan.faults.isSuperset(of: canary.neededFaults))
        #expect(plan.operations.isSuperset(of: canary.neededOperations))
    }
}
