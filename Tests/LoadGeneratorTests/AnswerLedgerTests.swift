import Testing

@testable import LoadGenerator

@Suite struct AnswerLedgerTests {
    @Test func `an answer gives what its request was about, and its latency counts`() {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        ledger.send(1, intended: 1_000, subject: 77)
        ledger.now = 51_000
        let first = ledger.answer(1)
        #expect(first == 77)
        let second = ledger.inFlightCount
        #expect(second == 0)
        #expect(box.tally.answerCount == 1)
        #expect(box.tally.latencies.maxNanoseconds == 50_000)
    }

    @Test func `a second answer to one request is wrong`() {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        ledger.send(1, intended: 1_000, subject: 0)
        let first = ledger.answer(1)
        #expect(first != nil)
        let second = ledger.answer(1)
        #expect(second == nil)
        #expect(box.tally.wrongCount == 1)
        #expect(box.tally.answerCount == 1)
    }

    @Test(arguments: [0, 2, 17, .max] as [UInt64])
    func `an answer to what was never asked is wrong`(number: UInt64) {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        ledger.send(1, intended: 1_000, subject: 0)
        let first = ledger.answer(number)
        #expect(first == nil)
        #expect(box.tally.wrongCount == 1)
        let second = ledger.inFlightCount
        #expect(second == 1)
    }

    @Test func `answers may come in any order, and a slow one keeps its place`() {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        var slow: UInt64?
        for round in 1...1_000 as ClosedRange<UInt64> {
            let number = ledger.nextNumber()
            ledger.send(number, intended: 1_000, subject: round)
            guard slow != nil else {
                slow = number
                continue
            }
            let answer = ledger.answer(number)
            #expect(answer == round)
        }
        let first = ledger.inFlightCount
        #expect(first == 1)
        let last = ledger.answer(slow ?? 0)
        #expect(last == 1)
        #expect(box.tally.wrongCount == 0)
    }

    @Test func `answers without ids belong to the oldest request`() {
        let box = TallyBox()
        var ledger = box.ledger(depth: 8)
        for subject in 10..<15 as Range<UInt64> {
            ledger.send(ledger.nextNumber(), intended: 1_000, subject: subject)
        }
        for subject in 10..<15 as Range<UInt64> {
            let answer = ledger.answerOldest()
            #expect(answer == subject)
        }
        let first = ledger.failure
        #expect(first == nil)
        let second = ledger.answerOldest()
        #expect(second == nil)
        let third = ledger.failure
        #expect(third != nil)
    }

    @Test func `a number is known again by its lowest 28 bits`() {
        let box = TallyBox()
        var ledger = box.ledger(depth: 4)
        ledger.send(5, intended: 0, subject: 0)
        let first = ledger.number(lowBits: 5)
        #expect(first == 5)
        let second = ledger.number(lowBits: 2)
        #expect(second == 2)
        // Never sent: ahead of the newest.
        let third = ledger.number(lowBits: 6)
        #expect(third == 0)
        let far: UInt64 = 3 << 28 + 7
        ledger.send(far, intended: 0, subject: 0)
        let fourth = ledger.number(lowBits: 7)
        #expect(fourth == far)
        let fifth = ledger.number(lowBits: 1 << 28 - 1)
        #expect(fifth == 3 << 28 - 1)
    }

    @Test func `requests of the warm-up have no latency`() {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        ledger.send(1, intended: 99, subject: 0)
        ledger.send(2, intended: 100, subject: 0)
        ledger.now = 1_000
        _ = ledger.answer(1)
        _ = ledger.answer(2, checkCount: 10)
        #expect(box.tally.latencies.count == 1)
        #expect(box.tally.answerCount == 2)
        #expect(box.tally.checkCount == 11)
    }

    @Test func `the first wrong answers are kept, all are counted`() {
        let box = TallyBox(measuredFrom: 100)
        var ledger = box.ledger(depth: 4)
        let long = [UInt8](repeating: 7, count: WrongAnswer.byteCountMax + 1)
        for number in 0..<20 {
            ledger.reportWrong("number \(number)", expected: [1], found: long.span)
        }
        #expect(box.tally.wrongCount == 20)
        #expect(box.tally.wrongAnswers.map(\.what) == (0..<5).map { "number \($0)" })
        #expect(box.tally.wrongAnswers[0].found.count == WrongAnswer.byteCountMax)
    }
}
