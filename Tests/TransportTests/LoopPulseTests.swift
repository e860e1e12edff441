import Testing

@testable import Transport

@Suite struct LoopPulseTests {
    @Test func `a question waits until it is answered, and no second one is asked meanwhile`() {
        let pulse = LoopPulse()
        #expect(pulse.unansweredMilliseconds(atMilliseconds: 1_000) == 0)
        #expect(pulse.ask(atMilliseconds: 1_000))
        #expect(!pulse.ask(atMilliseconds: 2_000))
        #expect(pulse.unansweredMilliseconds(atMilliseconds: 5_999) == 4_999)
        pulse.answer()
        #expect(pulse.unansweredMilliseconds(atMilliseconds: 9_000) == 0)
        #expect(pulse.ask(atMilliseconds: 9_000))
    }

    @Test func `a question of a later instant is no stall`() {
        let pulse = LoopPulse()
        #expect(pulse.ask(atMilliseconds: 1_000))
        #expect(pulse.unansweredMilliseconds(atMilliseconds: 999) == 0)
    }
}
