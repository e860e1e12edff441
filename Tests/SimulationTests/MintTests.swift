import TestSupport
import Testing

@testable import Simulation

@Suite struct MintTests {
    private let copy = TransactionCopy(
        number: 3, chain: 3, person: 1, product: .month, purchased: SimulatedClock.beginning,
        expires: SimulatedClock.beginning + 5_000, signed: SimulatedClock.beginning + 1)

    @Test func `a copy is signed once`() throws {
        let mint = Mint(try SharedAuthority.value.get().authority)
        let jws = mint.jws(copy)
        #expect(mint.jws(copy) == jws)
        var newer = copy
        newer.signed += 1
        #expect(mint.jws(newer) != jws)
    }

    @Test func `what is signed is as long in every process, whatever the keys`() throws {
        let one = Mint(try SharedAuthority.value.get().authority)
        let fact = NotificationFact(
            number: 1, type: "SUBSCRIBED", copy: copy,
            renewal: RenewalCopy(
                chain: 3, product: .month, graceExpires: SimulatedClock.beginning, signed: 1),
            status: 1, signed: SimulatedClock.beginning)
        let (jws, body) = (one.jws(copy), one.body(fact))
        for _ in 0..<4 {
            let other = Mint(try Mint.makeAuthority())
            #expect(other.jws(copy) != jws)
            #expect(other.jws(copy).count == jws.count)
            #expect(other.body(fact).count == body.count)
        }
    }
}
