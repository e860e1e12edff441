import Testing
import Wire

@testable import Simulation

/// An auditor with one family, told what a client asks and is answered.
struct AuditBench {
    let auditor: Auditor
    let clock = SimulatedClock()
    private var id: UInt64 = 0

    init(faults: Set<FaultKind> = []) {
        var plan = SimulationPlan(seed: 1, eventCount: 10)
        plan.faults = faults
        auditor = Auditor(plan, clock: clock, catalog: SimulatedCatalog())
    }

    mutating func add(_ content: SimulatedWrite.Content) -> Inquiry {
        let index = auditor.writes.count
        auditor.add(SimulatedWrite(index: index, family: 0, content: content))
        return .write(index)
    }

    mutating func purchase() -> Inquiry {
        let number = auditor.writes.count + 1
        return add(
            .notification(
                NotificationFact(
                    number: number, type: "SUBSCRIBED", copy: copy(number), status: 1,
                    signed: 1_000)))
    }

    mutating func ask(_ inquiry: Inquiry) -> Asked {
        id += 1
        let asked = Asked(
            id: id, client: 0, connection: 1, inquiry: inquiry, sentAt: clock.nowMilliseconds,
            timeoutMilliseconds: 5_000, floor: auditor.floor)
        auditor.sent(asked)
        return asked
    }

    func tell(
        _ asked: Asked, uuid: String, _ disposition: Message.Disposition, _ revision: UInt64
    ) {
        var answer = Message.IngestNotificationResponse()
        answer.notificationUUID = Text(uuid)
        answer.disposition = disposition
        answer.revision = revision
        _ = auditor.received(Response(id: asked.id, result: .ingestNotification(answer)), to: asked)
    }

    func tell(_ asked: Asked, _ answer: Message.CheckAccessResponse) {
        _ = auditor.received(Response(id: asked.id, result: .checkAccess(answer)), to: asked)
    }

    func refuse(_ asked: Asked, _ reason: String) {
        var response = Response(id: asked.id, result: nil)
        response.status = .unavailable
        response.reason = Text(reason)
        _ = auditor.received(response, to: asked)
    }

    func answer(
        _ reason: Message.Reason, until: Int64 = 0, by number: Int? = nil, of revision: UInt64
    ) -> Message.CheckAccessResponse {
        var answer = Message.CheckAccessResponse()
        answer.granted = reason == .active
        answer.reason = reason
        answer.validUntilMilliseconds = until
        answer.transactionID = number.map { Text(TransactionCopy.id($0)) } ?? Text()
        answer.revision = revision
        return answer
    }
}

@Suite struct AuditorTests {
    private let question = Inquiry.check(
        CheckQuestion(name: .account(0), product: .month, instant: 2_000))

    @Test func `an answer older than what somebody was told is stale`() {
        var bench = AuditBench()
        bench.tell(bench.ask(bench.purchase()), uuid: "n-1", .applied, 1)
        bench.tell(bench.ask(question), bench.answer(.unknownCustomer, of: 0))
        #expect(bench.auditor.finding?.rule == "stale")
    }

    @Test func `revisions of one connection do not go back`() {
        var bench = AuditBench()
        let (first, second) = (bench.ask(question), bench.ask(question))
        bench.tell(first, bench.answer(.unknownCustomer, of: 4))
        bench.tell(second, bench.answer(.unknownCustomer, of: 3))
        #expect(bench.auditor.finding?.rule == "backwards")
    }

    @Test func `a notification is taken in once, in one revision`() {
        var twice = AuditBench()
        let write = twice.purchase()
        twice.tell(twice.ask(write), uuid: "n-1", .applied, 1)
        twice.tell(twice.ask(write), uuid: "n-1", .duplicate, 1)
        #expect(twice.auditor.finding == nil)
        twice.tell(twice.ask(write), uuid: "n-1", .stale, 2)
        #expect(twice.auditor.finding?.rule == "takenTwice")

        var moved = AuditBench()
        let other = moved.purchase()
        moved.tell(moved.ask(other), uuid: "n-1", .applied, 1)
        moved.tell(moved.ask(other), uuid: "n-1", .duplicate, 3)
        #expect(moved.auditor.finding?.rule == "otherRevision")
    }

    @Test func `a revision is one write, and no revision is nobody's`() {
        var bench = AuditBench()
        let (one, other) = (bench.ask(bench.purchase()), bench.ask(bench.purchase()))
        bench.tell(one, uuid: "n-1", .applied, 1)
        bench.tell(other, uuid: "n-2", .applied, 1)
        #expect(bench.auditor.finding?.rule == "revisionTwice")

        var gap = AuditBench()
        gap.tell(gap.ask(gap.purchase()), uuid: "n-1", .applied, 2)
        gap.auditor.auditRevisions()
        #expect(gap.auditor.finding?.rule == "gap")
    }

    @Test func `what was lost may be there or not`() {
        var bench = AuditBench()
        let write = bench.purchase()
        #expect(bench.auditor.membership(of: 0, in: 5) == .outside)
        let asked = bench.ask(write)
        #expect(bench.auditor.membership(of: 0, in: 5) == .unknown)
        bench.auditor.lost(asked)
        #expect(bench.auditor.membership(of: 0, in: 5) == .unknown)
        #expect(bench.auditor.membership(of: 0, in: 0) == .outside)
        bench.tell(bench.ask(write), uuid: "n-1", .duplicate, 3)
        #expect(bench.auditor.membership(of: 0, in: 2) == .outside)
        #expect(bench.auditor.membership(of: 0, in: 3) == .inside)
    }

    @Test func `what was refused is not there`() {
        var bench = AuditBench(faults: [.tightLimits])
        bench.refuse(bench.ask(bench.purchase()), "OVERLOADED")
        #expect(bench.auditor.finding == nil)
        #expect(bench.auditor.membership(of: 0, in: 9) == .outside)
    }

    @Test func `another answer than was asked for is a finding`() {
        var bench = AuditBench()
        let asked = bench.ask(bench.purchase())
        bench.tell(asked, bench.answer(.active, of: 1))
        #expect(bench.auditor.finding?.rule == "answerOfOtherKind")
    }

    @Test func `a rebuild finds nothing to change`() {
        var bench = AuditBench()
        let asked = bench.ask(bench.add(.rebuild(.account(0), isDryRun: true)))
        var answer = Message.RebuildCustomerResponse()
        answer.changes = [Message.Change()]
        _ = bench.auditor.received(
            Response(id: asked.id, result: .rebuildCustomer(answer)), to: asked)
        #expect(bench.auditor.finding?.rule == "rebuildChanges")
    }
}
