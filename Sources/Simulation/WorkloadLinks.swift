internal import TestSupport

// What apps say of people, and what is asked about them.

extension Workload {
    func link() {
        let person = population.randomPerson(&generator)
        var identity = SimulatedName.account(person)
        let chains = population.chains.filter { $0.person == person && !$0.isMoving }
        switch generator.number(0...3) {
        case 0: identity = .token(person)
        case 1 where !chains.isEmpty: identity = .chain(generator.pick(chains).number)
        default: break
        }
        // An upload may have said of a chain already whose it is.
        var isRepetition = !saidLinks.insert(identity).inserted
        if case .chain = identity { isRepetition = true }
        submit(
            .link(customer: person, identity: identity), family: Population.family(of: person),
            lane: person, isRepetition: isRepetition)
    }

    func joinHousehold() {
        let person = population.randomPerson(&generator)
        // Two households of a family: people move between them.
        let household = generator.pick([0, 0, 0, 1, nil])
        let isRepetition = saidHouseholds[person] == household
        saidHouseholds[person] = household
        submit(
            .household(customer: person, household: household),
            family: Population.family(of: person), lane: person, isRepetition: isRepetition)
    }

    /// Moves a chain to somebody of the same family; both are linked by their accounts.
    func transfer() {
        let movable = population.chains.indices.filter {
            linkedPeople.contains(population.chains[$0].person)
        }
        guard !movable.isEmpty else { return }
        let index = generator.pick(movable)
        let chain = population.chains[index]
        let target = population.randomPerson(in: chain.family, &generator)
        guard linkedPeople.contains(target) else { return }
        population.chains[index].isMoving = true
        submit(
            .transfer(chain: chain.number, of: chain.person, to: target), family: chain.family,
            lane: chain.person, isRepetition: true)
    }

    func rebuild() {
        let person = population.randomPerson(&generator)
        submit(
            .rebuild(randomName(of: person), isDryRun: generator.oneIn(2)),
            family: Population.family(of: person))
    }

    // MARK: Questions

    /// The person's own name, or another one.
    private func randomName(of person: Int) -> SimulatedName {
        guard allows(.checkByOtherNames), generator.oneIn(3) else { return .customer(person) }
        let chains = population.chains.filter { $0.person == person }
        switch generator.number(0...2) {
        case 0: return .account(person)
        case 1: return .token(person)
        default: return chains.isEmpty ? .account(person) : .chain(generator.pick(chains).number)
        }
    }

    /// An instant at which something may begin or end, or just beside it; 0: now.
    private func randomInstant(of person: Int) -> Int64 {
        guard allows(.checkInstant), generator.oneIn(2) else { return 0 }
        let family = Population.family(of: person)
        let copies = population.chains.filter { $0.family == family }.flatMap(\.transactions)
        guard !copies.isEmpty else { return appleNow }
        let copy = generator.pick(copies)
        let dates = [copy.purchased, copy.expires ?? copy.signed, copy.revoked ?? copy.signed]
        return max(1, generator.pick(dates) + Int64(generator.number(-1...1)))
    }

    private func randomQuestion() -> CheckQuestion {
        let person = population.randomPerson(&generator)
        let isEntitlement = allows(.checkEntitlement) && generator.oneIn(4)
        var question = CheckQuestion(
            name: randomName(of: person),
            product: isEntitlement ? nil : generator.pick(SimulatedProduct.allCases),
            instant: randomInstant(of: person))
        if allows(.awaitRevision), generator.oneIn(8) {
            question.minRevision = auditor.floor + UInt64(generator.number(0...2))
        }
        return question
    }

    /// What a client asks when it has nothing to hand in.
    func randomInquiry() -> Inquiry {
        if allows(.checkBatch), generator.oneIn(12) {
            return .batch((0..<generator.number(1...12)).map { _ in randomQuestion() })
        }
        if allows(.getCustomer), generator.oneIn(24) {
            return .customer(randomName(of: population.randomPerson(&generator)))
        }
        if allows(.serverInfo), generator.oneIn(40) { return .serverInfo }
        return .check(randomQuestion())
    }

    /// Every question that can be asked of everybody, once: what is to be right in the end.
    func finalInquiries() -> [Inquiry] {
        population.people.flatMap { person -> [Inquiry] in
            let names: [SimulatedName] = [.customer(person), .account(person)]
            var inquiries: [Inquiry] = names.flatMap { name in
                SimulatedProduct.allCases.map { .check(CheckQuestion(name: name, product: $0)) }
            }
            inquiries.append(.check(CheckQuestion(name: .customer(person), product: nil)))
            inquiries.append(.customer(.account(person)))
            return inquiries
        }
    }
}
