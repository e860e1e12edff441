import Entitlements
import Testing

@Suite struct TransactionTests {
    private func copy(_ payload: String, signed: Int64 = 100, revoked: Int64? = nil)
        -> SignedTransaction
    {
        SignedTransaction(
            transaction: .lifetime(signed: signed) { $0.revocationDate = revoked.map(instant) },
            payload: Array(payload.utf8))
    }

    @Test func `the newer signature wins, whole, whatever it says`() {
        let old = copy("h.a.s", signed: 100, revoked: 90)
        let new = copy("h.b.s", signed: 101)
        #expect(new.supersedes(old))
        #expect(!old.supersedes(new))
    }

    @Test func `of one date the revoked copy wins, else the greater bytes`() {
        let revoked = copy("h.a.s", revoked: 90)
        let plain = copy("h.b.s")
        #expect(revoked.supersedes(plain))
        #expect(!plain.supersedes(revoked))
        #expect(copy("h.b.s").supersedes(copy("h.a.s")))
        #expect(!copy("h.a.s").supersedes(copy("h.b.s")))
    }

    @Test func `signed again is the same copy`() {
        #expect(!copy("h.a.s1").supersedes(copy("h.a.s2")))
        #expect(!copy("h.a.s2").supersedes(copy("h.a.s1")))
        #expect(!copy("h1.a.s").supersedes(copy("h2.a.s")))
        #expect(!copy("h2.a.s").supersedes(copy("h1.a.s")))
    }

    /// Found as a fault: headers that differ once made the winner depend on the order of arrival.
    @Test func `headers do not decide between two contents of one date`() {
        let first = copy("h1.b.s")
        let again = copy("h3.b.s")
        let other = copy("h2.a.s")
        for order in [[first, again, other], [again, first, other], [other, again, first]] {
            var winner = order[0]
            for candidate in order where candidate.supersedes(winner) { winner = candidate }
            #expect(winner.payload.contains(UInt8(ascii: "b")))
        }
    }

    @Test func `bytes that are no JWS are compared as they are`() {
        #expect(copy("b").supersedes(copy("a")))
        #expect(!copy("a").supersedes(copy("a")))
        #expect(copy("a.b").supersedes(copy("a.a")))
    }

    @Test func `renewal info is ordered the same way`() {
        func renewal(_ payload: String, signed: Int64) -> SignedRenewal {
            SignedRenewal(renewal: .sample(signed: signed), payload: Array(payload.utf8))
        }
        #expect(renewal("h.a.s", signed: 2).supersedes(renewal("h.b.s", signed: 1)))
        #expect(!renewal("h.b.s", signed: 1).supersedes(renewal("h.a.s", signed: 2)))
        #expect(renewal("h.b.s", signed: 1).supersedes(renewal("h.a.s", signed: 1)))
        #expect(!renewal("g.a.t", signed: 1).supersedes(renewal("h.a.s", signed: 1)))
    }

    @Test(arguments: [
        ("PURCHASED", Ownership.purchased), ("FAMILY_SHARED", .familyShared),
        ("ASSIGNED", .assigned), ("LENT", .other), ("purchased", .other), ("", .other),
    ])
    func `an ownership that is not known is kept apart`(name: String, ownership: Ownership) {
        #expect(Ownership(name: name) == ownership)
    }

    @Test func `a period that ends before it begins is empty`() {
        #expect(Transaction.sample(from: 100, to: 50).period?.isEmpty == true)
        #expect(Transaction.sample(from: nil).period == nil)
        #expect(Transaction.lifetime(from: 100).period?.upperBound == .distantFuture)
        #expect(CustomerHistory(.sample(from: 100, to: 50)).reason(at: 100) == .expired)
    }
}
