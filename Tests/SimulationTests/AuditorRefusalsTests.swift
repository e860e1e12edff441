import Testing
import Wire

@testable import Simulation

@Suite struct AuditorRefusalsTests {
    private func question(from revision: UInt64 = 0) -> Inquiry {
        .check(CheckQuestion(name: .account(0), product: .month, minRevision: revision))
    }

    @Test(
        arguments: [
            ("OVERLOADED", FaultKind.tightLimits), ("STORE_UNAVAILABLE", .fullDisk),
            ("STORE_UNAVAILABLE", .failedSyncs),
        ])
    func `a refusal needs its fault`(reason: String, fault: FaultKind) {
        var faulty = AuditBench(faults: [fault])
        faulty.refuse(faulty.ask(faulty.purchase()), reason)
        #expect(faulty.auditor.finding == nil)
        var sound = AuditBench()
        sound.refuse(sound.ask(sound.purchase()), reason)
        #expect(sound.auditor.finding?.rule == "refusal")
    }

    @Test(arguments: ["BAD_SIGNATURE", "STORE_DAMAGED", "INVALID_IDENTIFIER", ""])
    func `no fault explains these`(reason: String) {
        var bench = AuditBench(faults: Set(FaultKind.allCases))
        bench.refuse(bench.ask(bench.purchase()), reason)
        #expect(bench.auditor.finding?.rule == "refusal")
    }

    @Test func `deadlines are not applied before they come`() {
        for waited: Int64 in [4_999, 5_000] {
            var bench = AuditBench()
            let asked = bench.ask(bench.purchase())
            bench.clock.advance(to: waited)
            bench.refuse(asked, "DEADLINE")
            #expect((bench.auditor.finding == nil) == (waited == 5_000))
        }
    }

    @Test func `nobody waits for a revision that is there`() {
        var waiting = AuditBench()
        let patient = waiting.ask(question(from: 1))
        waiting.clock.advance(to: 5_000)
        waiting.refuse(patient, "REVISION_NOT_REACHED")
        #expect(waiting.auditor.finding == nil)

        var forgotten = AuditBench()
        let parked = forgotten.ask(question(from: 1))
        forgotten.clock.advance(to: 100)
        forgotten.tell(forgotten.ask(forgotten.purchase()), uuid: "n-1", .applied, 1)
        forgotten.clock.advance(to: 5_000)
        forgotten.refuse(parked, "REVISION_NOT_REACHED")
        #expect(forgotten.auditor.finding?.rule == "refusal")
    }

    @Test func `who was acknowledged is not unknown`() {
        var bench = AuditBench()
        bench.refuse(bench.ask(.customer(.account(0))), "UNKNOWN_CUSTOMER")
        #expect(bench.auditor.finding == nil)
        bench.tell(bench.ask(bench.purchase()), uuid: "n-1", .applied, 1)
        bench.refuse(bench.ask(.customer(.account(0))), "UNKNOWN_CUSTOMER")
        #expect(bench.auditor.finding?.rule == "refusal")
    }

    @Test func `a conflict needs a transfer`() {
        var bench = AuditBench()
        let upload = SimulatedWrite.Content.upload(customer: 0, copies: [copy(1)], renewals: [])
        _ = bench.ask(bench.add(.transfer(chain: 1, of: 0, to: 1)))
        bench.refuse(bench.ask(bench.add(upload)), "IDENTITY_CONFLICT")
        #expect(bench.auditor.finding == nil)
        var other = AuditBench()
        other.refuse(other.ask(other.add(upload)), "IDENTITY_CONFLICT")
        #expect(other.auditor.finding?.rule == "refusal")
    }
}
