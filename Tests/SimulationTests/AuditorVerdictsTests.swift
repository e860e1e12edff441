import Testing
import Wire

@testable import Simulation

@Suite struct AuditorVerdictsTests {
    private func question(at instant: Int64 = 2_000) -> Inquiry {
        .check(CheckQuestion(name: .account(0), product: .month, instant: instant))
    }

    @Test func `an answer is compared with what its revision has seen`() {
        var bench = AuditBench()
        bench.tell(bench.ask(bench.purchase()), uuid: "n-1", .applied, 1)
        bench.tell(bench.ask(question()), bench.answer(.active, until: 9_000, by: 1, of: 1))
        bench.auditor.compareOpenVerdicts(isEnd: true)
        #expect(bench.auditor.finding == nil)
        #expect(bench.auditor.comparedCount == 1)
    }

    @Test(
        arguments: [
            (Message.Reason.expired, Int64(9_000), 1), (.active, 9_001, 1), (.active, 9_000, 2),
            (.gracePeriod, 9_000, 1), (.active, 0, 1),
        ])
    func `every field of it counts`(reason: Message.Reason, until: Int64, number: Int) {
        var bench = AuditBench()
        bench.tell(bench.ask(bench.purchase()), uuid: "n-1", .applied, 1)
        let answer = bench.answer(reason, until: until, by: number, of: 1)
        bench.tell(bench.ask(question()), answer)
        bench.auditor.compareOpenVerdicts(isEnd: true)
        #expect(bench.auditor.finding?.rule == "verdict")
    }

    @Test func `what is uncertain is compared once it is known, or with either`() {
        var bench = AuditBench()
        let write = bench.purchase()
        bench.auditor.lost(bench.ask(write))
        bench.tell(bench.ask(question()), bench.answer(.unknownCustomer, of: 1))
        bench.auditor.compareOpenVerdicts(isEnd: false)
        #expect(bench.auditor.openVerdicts.count == 1)
        // It was in revision 1 after all, and the answer had not seen it.
        bench.tell(bench.ask(write), uuid: "n-1", .duplicate, 1)
        bench.auditor.compareOpenVerdicts(isEnd: false)
        #expect(bench.auditor.finding?.rule == "verdict")

        var never = AuditBench()
        never.auditor.lost(never.ask(never.purchase()))
        never.tell(never.ask(question()), never.answer(.unknownCustomer, of: 1))
        never.auditor.compareOpenVerdicts(isEnd: true)
        #expect(never.auditor.finding == nil)
    }

    @Test func `now is any moment between question and answer`() {
        var bench = AuditBench()
        let start = SimulatedClock.beginning
        let fact = NotificationFact(
            number: 1, type: "SUBSCRIBED", copy: copy(1, from: start, to: start + 50),
            signed: start)
        bench.tell(bench.ask(bench.add(.notification(fact))), uuid: "n-1", .applied, 1)
        bench.clock.advance(to: 40)
        let (early, late) = (bench.ask(question(at: 0)), bench.ask(question(at: 0)))
        bench.clock.advance(to: 60)
        bench.tell(early, bench.answer(.active, until: start + 50, by: 1, of: 1))
        bench.tell(late, bench.answer(.expired, by: 1, of: 1))
        bench.auditor.compareOpenVerdicts(isEnd: true)
        #expect(bench.auditor.finding == nil)
        let tooLate = bench.answer(.active, until: start + 50, by: 1, of: 1)
        bench.tell(bench.ask(question(at: 0)), tooLate)
        bench.auditor.compareOpenVerdicts(isEnd: true)
        #expect(bench.auditor.finding?.rule == "verdict")
    }

    @Test func `a customer shows the newest copies and nothing else`() {
        for isRight in [true, false] {
            var bench = AuditBench()
            bench.tell(bench.ask(bench.purchase()), uuid: "n-1", .applied, 1)
            let asked = bench.ask(.customer(.account(0)))
            var record = Message.TransactionRecord()
            record.transactionID = Text(TransactionCopy.id(1))
            record.signedDateMilliseconds = isRight ? 1_000 : 999
            var answer = Message.GetCustomerResponse()
            answer.transactions = [record]
            var entitlement = Message.Entitlement()
            entitlement.productID = Text(SimulatedProduct.month.id)
            entitlement.reason = .expired
            entitlement.transactionID = record.transactionID
            answer.entitlements = [entitlement]
            answer.revision = 1
            _ = bench.auditor.received(
                Response(id: asked.id, result: .getCustomer(answer)), to: asked)
            bench.auditor.compareOpenVerdicts(isEnd: true)
            #expect((bench.auditor.finding == nil) == isRight)
        }
    }
}
