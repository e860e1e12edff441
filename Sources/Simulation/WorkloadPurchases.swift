internal import TestSupport

// What happens to purchases at Apple's, and what Apple says of it.

extension Workload {
    /// A period of some seconds: it ends while the simulation runs.
    private var period: Int64 { Int64(generator.number(2_000...60_000)) }

    /// The chains that satisfy `condition`, and one of them.
    private func pickChain(_ condition: (Population.Chain) -> Bool) -> Int? {
        let found = population.chains.indices.filter { condition(population.chains[$0]) }
        return found.isEmpty ? nil : generator.pick(found)
    }

    /// One of the chain's transactions, the newest as a rule.
    private func pickTransaction(of chain: Int) -> Int {
        let count = population.chains[chain].transactions.count
        return generator.oneIn(3) ? generator.number(0...count - 1) : count - 1
    }

    func purchase() {
        let person = population.randomPerson(&generator)
        let product = generator.pick(SimulatedProduct.allCases)
        let now = appleNow
        let copy = population.begin(
            product, of: person, isShared: false, from: now + Int64(generator.number(-50...50)),
            to: product.renews ? now + period : nil, carriesToken: generator.oneIn(2), at: now)
        if allows(.upload), generator.oneIn(3) {
            upload(of: person, [copy])
        } else {
            notify(
                product.renews ? "SUBSCRIBED" : "ONE_TIME_CHARGE", copy,
                status: product.renews ? 1 : nil)
        }
    }

    func renew() {
        guard let index = pickChain({ $0.product.renews }) else { return }
        let chain = population.chains[index]
        let now = appleNow
        let start = max(chain.newest.expires ?? now, now - 60_000)
        let copy = population.extend(
            index, with: chain.product, from: start, to: max(start, now) + period, at: now)
        let renewal =
            generator.oneIn(2)
            ? RenewalCopy(
                chain: chain.number, product: chain.product, signed: population.sign(at: now))
            : nil
        notify("DID_RENEW", copy, renewal: renewal, status: 1)
    }

    func failToRenew() {
        guard let index = pickChain({ $0.product.renews }) else { return }
        let chain = population.chains[index]
        let isGrace = generator.oneIn(2)
        let end = chain.newest.expires ?? appleNow
        let renewal = RenewalCopy(
            chain: chain.number, product: chain.product,
            graceExpires: isGrace ? end + period : nil,
            isInBillingRetry: generator.number(0...3) > 0, signed: population.sign(at: appleNow))
        notify("DID_FAIL_TO_RENEW", chain.newest, renewal: renewal, status: isGrace ? 4 : 3)
    }

    func upgrade() {
        guard let index = pickChain({ $0.product == .month }) else { return }
        let last = population.chains[index].transactions.count - 1
        let old = population.resign(index, last, at: appleNow) { $0.isUpgraded = true }
        let now = max(appleNow, old.purchased + 1)
        let copy = population.extend(index, with: .pro, from: now, to: now + period, at: appleNow)
        notify("DID_CHANGE_RENEWAL_PREF", copy, status: 1)
        upload(of: old.person, [old], isAnonymous: true)
    }

    func share() {
        guard let index = pickChain({ !$0.isShared }) else { return }
        let chain = population.chains[index]
        let bought = chain.transactions[pickTransaction(of: index)]
        let person = population.randomPerson(in: chain.family, &generator)
        guard person != chain.person else { return }
        let copy = population.begin(
            bought.product, of: person, isShared: true, from: bought.purchased,
            to: bought.expires, carriesToken: generator.oneIn(3), at: appleNow)
        if generator.oneIn(2) {
            notify(bought.product.renews ? "SUBSCRIBED" : "ONE_TIME_CHARGE", copy)
        } else {
            upload(of: person, [copy])
        }
    }

    func refund(type: String?) {
        guard let index = pickChain({ !$0.isShared }) else { return }
        let now = appleNow
        let copy = population.resign(index, pickTransaction(of: index), at: now) {
            // Now and then a date that has not come yet.
            $0.revoked = now + Int64(generator.number(-3_000...300))
            $0.revocationType = type
            $0.revocationReason = generator.oneIn(2) ? 1 : 0
        }
        notify("REFUND", copy, status: copy.product.renews && generator.oneIn(4) ? 5 : nil)
    }

    func reverse() {
        let wasRevoked = { (chain: Population.Chain) in
            chain.transactions.contains { $0.revoked != nil }
        }
        guard let index = pickChain(wasRevoked),
            let transaction = population.chains[index].transactions.lastIndex(where: {
                $0.revoked != nil
            })
        else { return }
        let copy = population.resign(index, transaction, at: appleNow) {
            $0.revoked = nil
            $0.revocationType = nil
            $0.revocationReason = nil
        }
        notify("REFUND_REVERSED", copy)
    }

    func revoke(isDated: Bool) {
        guard let index = pickChain({ $0.isShared }) else { return }
        let now = appleNow
        let copy = population.resign(index, pickTransaction(of: index), at: now) {
            $0.revoked = isDated ? now - Int64(generator.number(0...2_000)) : nil
            let types = [nil, "FAMILY_REVOKE", "REFUND_FULL"]
            $0.revocationType = isDated ? generator.pick(types) : nil
            $0.revocationReason = isDated ? Int64(generator.number(0...1)) : nil
        }
        notify("REVOKE", copy)
    }

    /// A return to the family, as Apple shows it: by a notification, a status, or a newer copy.
    func rejoin() {
        guard let index = pickChain({ $0.isShared }) else { return }
        let copy = population.resign(index, pickTransaction(of: index), at: appleNow) {
            $0.revoked = nil
            $0.revocationType = nil
            $0.revocationReason = nil
        }
        switch generator.number(0...2) {
        case 0: notify("DID_RENEW", copy)
        case 1: notify("DID_CHANGE_RENEWAL_STATUS", copy, status: generator.pick([1, 2, 3, 4]))
        default: upload(of: copy.person, [copy])
        }
    }

    // MARK: What apps hand in

    func upload() {
        let person = population.randomPerson(&generator)
        let copies = population.chains.filter { $0.person == person && !$0.isMoving }
            .flatMap(\.transactions)
        guard !copies.isEmpty else { return }
        let first = generator.number(0...copies.count - 1)
        upload(of: person, Array(copies[first...].prefix(3)))
    }

    func uploadStale() {
        guard !population.copies.isEmpty else { return }
        let copy = generator.pick(population.copies)
        upload(of: copy.person, [copy], isAnonymous: true)
    }

    private func upload(of person: Int, _ copies: [TransactionCopy], isAnonymous: Bool = false) {
        let isMoving = population.chains.contains { chain in
            chain.isMoving && copies.contains { $0.chain == chain.number }
        }
        let isNamed = !isAnonymous && !isMoving && allows(.link) && generator.oneIn(2)
        submit(
            .upload(customer: isNamed ? person : nil, copies: copies, renewals: []),
            family: Population.family(of: person))
    }
}
