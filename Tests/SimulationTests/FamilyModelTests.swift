import Testing

@testable import Simulation

/// Writes by hand, in order.
struct WriteList {
    private(set) var writes: [SimulatedWrite] = []

    mutating func add(_ content: SimulatedWrite.Content) {
        writes.append(SimulatedWrite(index: writes.count, family: 0, content: content))
    }

    mutating func notify(
        _ type: String, _ copy: TransactionCopy, signed: Int64, renewal: RenewalCopy? = nil,
        status: Int64? = nil
    ) {
        add(
            .notification(
                NotificationFact(
                    number: writes.count, type: type, copy: copy, renewal: renewal, status: status,
                    signed: signed)))
    }

    var model: FamilyModel { FamilyModel(writes) }
}

func copy(
    _ number: Int, chain: Int? = nil, person: Int = 0, product: SimulatedProduct = .month,
    shared: Bool = false, token: Bool = false, from: Int64 = 1_000, to: Int64? = 9_000,
    signed: Int64 = 1_000, _ change: (inout TransactionCopy) -> Void = { _ in }
) -> TransactionCopy {
    var copy = TransactionCopy(
        number: number, chain: chain ?? number, person: person, product: product, isShared: shared,
        carriesToken: token, purchased: from, expires: product.renews ? to : nil, signed: signed)
    change(&copy)
    return copy
}

@Suite struct FamilyModelTests {
    @Test func `names mean one person once something says so`() {
        var list = WriteList()
        #expect(list.model.person(.account(0)) == .unknown)
        list.notify("SUBSCRIBED", copy(1, token: true), signed: 1_000)
        #expect(list.model.person(.account(0)) == .account(0))
        #expect(list.model.person(.token(0)) == .account(0))
        #expect(list.model.person(.chain(1)) == .account(0))
        #expect(list.model.person(.customer(0)) == .unknown)
        list.add(.household(customer: 0, household: 0))
        #expect(list.model.person(.customer(0)) == .named(0))
        #expect(list.model.transactions(of: .named(0)).isEmpty)
        list.add(.link(customer: 0, identity: .token(0)))
        #expect(list.model.person(.account(0)) == .named(0))
        #expect(list.model.transactions(of: .named(0)).count == 1)
    }

    @Test func `a transfer moves one chain`() {
        var list = WriteList()
        list.add(.link(customer: 0, identity: .account(0)))
        list.add(.link(customer: 1, identity: .account(1)))
        list.add(.upload(customer: 0, copies: [copy(1), copy(2)], renewals: []))
        list.add(.transfer(chain: 2, of: 0, to: 1))
        #expect(list.model.transactions(of: .named(0)).map(\.copy.number) == [1])
        #expect(list.model.transactions(of: .named(1)).map(\.copy.number) == [2])
        #expect(list.model.person(.chain(2)) == .named(1))
        #expect(list.model.person(.account(0)) == .named(0))
        #expect(list.model.person(.token(0)) == .unpredicted)
    }

    @Test func `the newest copy counts, whatever the order`() {
        let old = copy(1, signed: 5)
        let new = copy(1, signed: 6) { $0.revoked = 4 }
        for copies in [[old, new], [new, old], [old, new, old]] {
            var list = WriteList()
            list.add(.upload(customer: nil, copies: copies, renewals: []))
            #expect(list.model.held.map(\.copy) == [new])
            #expect(list.model.held[0].datedCopy == 6)
        }
    }

    @Test func `the last word about a household counts`() {
        var list = WriteList()
        list.add(.link(customer: 0, identity: .account(0)))
        list.notify("SUBSCRIBED", copy(1), signed: 1)
        for household in [0, 1] {
            list.add(.household(customer: 0, household: household))
            list.add(.household(customer: 1, household: 1))
            let bought = list.model.householdPurchases(of: .named(1)).map(\.number)
            #expect(bought == (household == 1 ? [1] : []))
        }
        list.add(.household(customer: 0, household: nil))
        #expect(list.model.householdPurchases(of: .named(1)).isEmpty)
    }
}
