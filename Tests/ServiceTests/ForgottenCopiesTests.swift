import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// What comes in of somebody after he was forgotten.
@Suite struct ForgottenCopiesTests {
    private typealias Mary = LedgerForgettingTests

    private func forgotten(_ fixture: ServiceFixture) throws {
        try Mary.makeMary(fixture)
        try fixture.forget(.customer("mary-smith"))
    }

    @Test func `a renewal is counted, and its names and bytes are not kept`() throws {
        let fixture = try ServiceFixture()
        try forgotten(fixture)
        let reply = try fixture.notify(
            "DID_RENEW", signed: 9_000,
            transaction: try fixture.transaction(
                "12", original: "10", from: 9_000, to: 19_000, changes: Mary.names),
            renewal: try fixture.renewal(
                "10", signed: 9_000, changes: ["appAccountToken": .string("token-of-mary")]))
        #expect(reply.disposition == .applied)
        #expect(try fixture.reason(chain: "10", at: 12_000) == .active)
        #expect(try fixture.traces(of: Mary.texts) == [])
        #expect(try fixture.view(.originalTransaction("10")).notifications.count == 2)
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a refund that comes later ends access and is counted`() throws {
        let fixture = try ServiceFixture()
        try forgotten(fixture)
        let refund = try fixture.transaction(
            "10", to: 9_000, revoked: 4_000, changes: Mary.names)
        let reply = try fixture.notify("REFUND", signed: 4_000, transaction: refund)
        #expect(reply.changes.map(\.isGranted) == [false] && reply.changes[0].customerID == "10")
        #expect(try fixture.reason(chain: "10") == .refunded)
        let again = try fixture.notify("REFUND", signed: 4_001, transaction: refund)
        #expect(again.disposition == .stale)
        guard
            case .refunds(let page) = try fixture.service.read(
                .refunds(RefundQuery(page: PageQuery(scope: fixture.scope))))
        else { throw UnexpectedReply() }
        #expect(page.refunds.map(\.transaction.transactionID) == ["10"])
        #expect(try fixture.traces(of: Mary.texts) == [])
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `an upload without a name is counted, one with a name brings him back`() throws {
        let fixture = try ServiceFixture()
        try forgotten(fixture)
        let copy = try fixture.transaction("10", to: 9_000, signed: 3_000, changes: Mary.names)
        try fixture.upload("", copy, renewals: [try fixture.renewal("10", signed: 3_000)])
        #expect(try fixture.traces(of: Mary.texts) == [])
        #expect(try fixture.checkFindings() == [])
        try fixture.upload("new-name", copy)
        #expect(try fixture.reason("new-name") == .active)
        #expect(try fixture.view(.appAccountToken("token-of-mary")).customerID == "new-name")
        let view = try fixture.view(.customer("new-name"))
        #expect(view.transactions.map(\.payload.isEmpty).contains(false))
        #expect(try fixture.traces(of: ["mary-smith"]) == [])
        #expect(try fixture.checkFindings() == [])
        // And he can be forgotten again.
        try fixture.forget(.customer("new-name"))
        #expect(try fixture.traces(of: Mary.texts + ["new-name"]) == [])
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a link to his chain brings him back, one to his token does not`() throws {
        let fixture = try ServiceFixture()
        try forgotten(fixture)
        try fixture.link("eve", .appAccountToken("token-of-mary"))
        let renewal = try fixture.transaction(
            "12", original: "10", from: 9_000, to: 19_000, changes: Mary.names)
        try fixture.notify("DID_RENEW", signed: 9_000, transaction: renewal)
        #expect(try fixture.reason("eve", at: 12_000) == .noPurchase)
        #expect(try fixture.reason(chain: "10", at: 12_000) == .active)
        try fixture.link("eve", .originalTransaction("10"))
        #expect(try fixture.reason("eve", at: 12_000) == .active)
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `what he buys anew under the token is somebody else's`() throws {
        let fixture = try ServiceFixture.fetching()
        try forgotten(fixture)
        let anew = try fixture.transaction("50", product: "n", to: 19_000, changes: Mary.names)
        try fixture.notify("SUBSCRIBED", transaction: anew)
        #expect(
            try fixture.view(.appAccountToken("token-of-mary")).transactions
                .map(\.transaction.transactionID) == ["50"])
        // Apple's history of one account tells of both: neither is joined to the other.
        let old = try fixture.transaction("10", to: 9_000, signed: 6_000, changes: Mary.names)
        let history = try fixture.history(
            old, anew,
            renewals: [
                try fixture.renewal("10", signed: 6_000)
            ])
        for reference: CustomerReference in [
            .originalTransaction("10"), .appAccountToken("token-of-mary"),
        ] {
            try fixture.apply(history, by: try fixture.plan(reference))
            let forgotten = try fixture.view(.originalTransaction("10"))
            #expect(
                forgotten.transactions.map(\.transaction.transactionID).sorted() == ["10", "11"])
            #expect(forgotten.transactions.allSatisfy { $0.transaction == $0.transaction.plain })
            let other = try fixture.view(.appAccountToken("token-of-mary"))
            #expect(other.transactions.map(\.transaction.transactionID) == ["50"])
        }
        #expect(try fixture.checkFindings() == [])
        try fixture.forget(.appAccountToken("token-of-mary"))
        #expect(try fixture.traces(of: Mary.texts) == [])
    }

    @Test func `a fetch that was under way brings no name back`() throws {
        let fixture = try ServiceFixture.fetching()
        try Mary.makeMary(fixture)
        let plan = try fixture.plan(.customer("mary-smith"))
        try fixture.forget(.customer("mary-smith"))
        let history = try fixture.history(
            try fixture.transaction("10", to: 9_000, signed: 6_000, changes: Mary.names),
            try fixture.transaction("60", product: "n", to: 9_000, changes: Mary.names))
        try fixture.apply(history, by: plan)
        #expect(try fixture.traces(of: Mary.texts) == [])
        #expect(try fixture.reason(chain: "60", "n") == .active)
        #expect(try fixture.view(.originalTransaction("60")).customerID == "10")
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `notifications that stream in beside it leave no name`() throws {
        let fixture = try ServiceFixture()
        try Mary.makeMary(fixture)
        var calls: [WriteCall] = []
        for index in 0..<40 {
            calls.append(
                try fixture.notification(
                    "DID_RENEW", signed: 3_000 + Int64(index),
                    transaction: try fixture.transaction(
                        "\(300 + index)", original: "10", from: 1_000 + Int64(index), to: 19_000,
                        signed: 3_000 + Int64(index), changes: Mary.names)))
        }
        calls.insert(fixture.forgetCall(.customer("mary-smith")), at: 17)
        // The call was prepared before the events of its group, and before those after it.
        for result in fixture.desk.performGroup(Array(calls[..<30])) { _ = try result.get() }
        for call in calls[30...] { _ = try fixture.desk.perform(call).get() }
        #expect(try fixture.traces(of: Mary.texts) == [])
        #expect(try fixture.view(.originalTransaction("10")).transactionCount == 42)
        #expect(try fixture.reason(chain: "10") == .active)
        #expect(try fixture.checkFindings() == [])
    }
}

extension Transaction {
    /// Without what names somebody.
    fileprivate var plain: Transaction {
        var copy = self
        copy.appAccountToken = nil
        copy.appTransactionID = nil
        return copy
    }
}
