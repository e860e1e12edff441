import Entitlements
import LoadGenerator
import Service
import Storage
import TestSupport
import Testing

@testable import entitlebench

@Suite struct WriteFamiliesTests {
    private let plan = SeedPlan(customerCount: 120)

    @Test func `only families that share something paid for are chosen`() throws {
        let fixture = try SeedFixture()
        let work = WriteFamilies(plan: plan, signer: fixture.signer, familyCountAtOnce: 2)
        let families = work.families(countMax: 100)
        #expect(families.count > 2)
        #expect(families.allSatisfy { plan.kind(of: $0) == .familyBuyer && $0 % 6 == 0 })
        #expect(work.families(countMax: 2) == Array(families.prefix(2)))
    }

    @Test func `each notification ends the access of one person and of nobody else`() throws {
        let fixture = try SeedFixture()
        let work = WriteFamilies(plan: plan, signer: fixture.signer, familyCountAtOnce: 1)
        let buyer = try #require(work.families(countMax: 1).first)
        let desk = try fixture.desk(MemoryStore())
        let scope = try #require(
            desk.scopeIndex(
                Scope(bundleID: fixture.signer.app.bundleID, environment: .production)))
        let people = buyer..<buyer + 6
        for person in people { _ = try desk.perform(fixture.upload(of: person, in: plan)).get() }
        for ended in people {
            let call = WriteCall.notification(payload: try work.body(endingAccessOf: ended))
            guard case .notification(let reply) = try desk.perform(call).get() else {
                Issue.record("no notification")
                return
            }
            #expect(reply.disposition == Disposition.applied)
            for person in people {
                let verdict = try desk.check(
                    .customer(plan.name(of: person)), plan.product(of: person), in: scope)
                let reason: AccessReason =
                    person > ended ? .active : person == buyer ? .refunded : .familyRefunded
                #expect(verdict.reason == reason)
            }
        }
    }

    @Test func `what families saw adds up`() {
        var outcome = WriteFamilies.Outcome(
            familyCount: 1, checkCount: 4, checkCountAfterEnd: 2, wrongAnswers: ["a"])
        outcome.add(
            WriteFamilies.Outcome(
                familyCount: 1, checkCount: 5, checkCountAfterEnd: 3, wrongAnswers: ["b"]))
        #expect(outcome.familyCount == 2)
        #expect(outcome.checkCount == 9)
        #expect(outcome.checkCountAfterEnd == 5)
        #expect(outcome.loadOutcome.wrongCount == 2)
        #expect(!outcome.loadOutcome.isRight)
    }
}
