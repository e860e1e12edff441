import Storage
import Testing

@testable import Service

@Suite struct CustomerStatesTests {
    private func key(_ number: UInt64) -> CustomerKey {
        CustomerKey(scope: ScopeNumber(1), number: number)
    }

    private func loaded(_ count: UInt64) -> CustomerStates {
        var states = CustomerStates()
        for number in 1...count {
            states.load(CustomerState(key: key(number), record: CustomerRecord(name: "ann")))
        }
        return states
    }

    @Test func `those that were changed are found once`() {
        var states = loaded(5)
        #expect(!states.isTouched)
        states[key(2)]?.markChanged()
        states[key(4)]?.record.household = "h"
        states[key(2)]?.record.household = "h"
        #expect(states.isTouched)
        #expect(states.modified { $0.record.household == "h" } == [key(2), key(4)])
        #expect(states.takeTouched() == [key(2)])
        #expect(!states.isTouched)
        #expect(states.takeTouched().isEmpty)
        #expect(states[key(2)]?.isDirty == true)
    }

    @Test func `somebody new counts as changed`() {
        var states = CustomerStates()
        var state = CustomerState(key: key(1), record: CustomerRecord())
        state.markChanged()
        states[key(1)] = state
        #expect(states.contains(key(1)) && !states.contains(key(2)))
        #expect(states.takeTouched() == [key(1)])
    }

    @Test func `keeping a fold changes nobody`() {
        var states = loaded(1)
        states.keep(Fold(), of: key(1))
        #expect(states[key(1)]?.fold != nil)
        #expect(states.takeTouched().isEmpty)
        states[key(1)]?.markChanged()
        #expect(states[key(1)]?.fold == nil)
    }
}
