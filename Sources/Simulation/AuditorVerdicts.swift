internal import Wire

// Whether an answer about access is the one that the contract asks for, given the writes that its
// revision has seen.

/// A family as of one set of writes, kept because the next answer is about the same as a rule.
struct FamilyView {
    var included: [Int]
    var model: FamilyModel
}

extension Auditor {
    /// More uncertain writes than this are not tried in all their combinations.
    private static var uncertainCountMax: Int { 4 }

    func family(of name: SimulatedName) -> Int {
        switch name {
        case .customer(let person), .account(let person), .token(let person):
            Population.family(of: person)
        case .chain(let chain):
            chain % plan.familyCount
        }
    }

    /// Compares what can be compared; at the end also what will never be more certain.
    func compareOpenVerdicts(isEnd: Bool) {
        var left: [OpenVerdict] = []
        for verdict in openVerdicts where finding == nil {
            let uncertain = uncertainWrites(verdict)
            if uncertain.isEmpty {
                compare(verdict, with: [])
            } else if isEnd, uncertain.count <= Self.uncertainCountMax {
                compare(verdict, with: uncertain)
            } else if isEnd {
                uncertainCount += 1
            } else {
                left.append(verdict)
            }
        }
        openVerdicts = left
        openCustomers = openCustomers.filter { !compare($0) }
    }

    private func uncertainWrites(_ verdict: OpenVerdict) -> [Int] {
        writesOfFamily[family(of: verdict.question.name)].filter {
            membership(of: $0, in: verdict.answer.revision) == .unknown
        }
    }

    /// Reports unless some combination of the uncertain writes explains the answer.
    private func compare(_ verdict: OpenVerdict, with uncertain: [Int]) {
        comparedCount += 1
        let family = family(of: verdict.question.name)
        let certain = writesOfFamily[family].filter {
            membership(of: $0, in: verdict.answer.revision) == .inside
        }
        var expected: [String] = []
        for choice in 0..<(1 << uncertain.count) {
            let chosen = uncertain.indices.filter { choice >> $0 & 1 == 1 }.map { uncertain[$0] }
            let model = model(of: family, chosen.isEmpty ? certain : (certain + chosen).sorted())
            guard let mismatch = mismatch(verdict, model) else { return }
            expected.append(mismatch)
        }
        let answer = verdict.answer
        report(
            "verdict",
            "\(verdict.question.summary), sent at \(verdict.asked.sentAt) and answered at "
                + "\(verdict.answeredAt) from revision \(answer.revision): "
                + "\(describe(answer)); expected \(expected.first ?? "")")
    }

    private func model(of family: Int, _ included: [Int]) -> FamilyModel {
        if let view = families[family], view.included == included { return view.model }
        let model = FamilyModel(included.map { writes[$0].write })
        families[family] = FamilyView(included: included, model: model)
        return model
    }

    /// What was expected instead; nil where the answer is right.
    private func mismatch(_ verdict: OpenVerdict, _ family: FamilyModel) -> String? {
        let person = family.person(verdict.question.name)
        guard person != .unpredicted else { return nil }
        var expected = ""
        for catalog in catalogs(from: verdict.asked.sentAt, through: verdict.answeredAt) {
            let model = VerdictModel(of: person, in: family, catalog)
            for instant in instants(verdict, model, family) {
                let candidate = verdict.question.product.map {
                    model.verdict(on: $0, at: instant)
                }
                if let candidate {
                    if isSame(verdict.answer, candidate) { return nil }
                    if expected.isEmpty { expected = describe(candidate, at: instant) }
                } else {
                    let candidate = model.verdictOnEntitlement(at: instant)
                    if agrees(verdict.answer, candidate) { return nil }
                    if expected.isEmpty { expected = describe(candidate, at: instant) }
                }
            }
        }
        return expected
    }

    private func isSame(
        _ answer: Message.CheckAccessResponse, _ expected: VerdictModel.Verdict
    ) -> Bool {
        guard answer.granted == expected.isGranted, answer.reason == expected.reason,
            answer.validUntilMilliseconds == expected.validUntil
        else { return false }
        let id = answer.transactionID.description
        if expected.transactions.isEmpty { return id.isEmpty }
        return expected.transactions.contains { TransactionCopy.id($0) == id }
    }

    /// The reason behind a no, and which product grants, are not said of an entitlement.
    private func agrees(
        _ answer: Message.CheckAccessResponse, _ expected: VerdictModel.Verdict
    ) -> Bool {
        let isOpen = !expected.isGranted && expected.reason == .expired
        return answer.granted == expected.isGranted
            && answer.validUntilMilliseconds == expected.validUntil
            && (expected.isGranted || isOpen || answer.reason == expected.reason)
    }

    /// The catalogs that may have answered.
    private func catalogs(from start: Int64, through end: Int64) -> [SimulatedCatalog] {
        catalogs.indices.filter { index in
            let until = index + 1 < catalogs.count ? catalogs[index + 1].at : .max
            return catalogs[index].at <= end && start <= until
        }.reversed().map { catalogs[$0].catalog }
    }

    /// The instants that may have been meant: the one asked about, or every "now" between question
    /// and answer at which something begins or ends.
    private func instants(
        _ verdict: OpenVerdict, _ model: VerdictModel, _ family: FamilyModel
    ) -> [Int64] {
        guard verdict.question.instant == 0 else { return [verdict.question.instant] }
        let range = clock.wallRange(from: verdict.asked.sentAt, through: verdict.answeredAt)
        let low = max(range.lowerBound, model.newestDate)
        let high = max(range.upperBound, model.newestDate)
        var instants = [high, low]
        instants += model.dates.filter { low < $0 && $0 < high }
        // A family that is recognised adds the dates of its refunds to what now is at least.
        if family.newestDate > low { instants.append(max(family.newestDate, high)) }
        if family.newestDate > low { instants += model.refundDates(family).map { max(low, $0) } }
        return instants
    }

    private func describe(_ answer: Message.CheckAccessResponse) -> String {
        let until = answer.validUntilMilliseconds
        return "\(answer.reason) until \(until == 0 ? 0 : until - SimulatedClock.beginning) by "
            + "\(answer.transactionID)"
    }

    private func describe(_ verdict: VerdictModel.Verdict, at instant: Int64) -> String {
        let until = verdict.validUntil
        let ids = verdict.transactions.map { TransactionCopy.id($0) }.joined(separator: " or ")
        return "\(verdict.reason) until \(until == 0 ? 0 : until - SimulatedClock.beginning) by "
            + "\(ids), at \(instant - SimulatedClock.beginning)"
    }

    // MARK: Customers

    /// A customer shows the newest copy of each of his transactions, and nothing else; false where
    /// it is not known yet which those are.
    private func compare(_ shown: OpenCustomer) -> Bool {
        let (name, answer) = (shown.name, shown.answer)
        let family = family(of: name)
        let members = writesOfFamily[family]
        let isCertain = !members.contains {
            membership(of: $0, in: answer.revision) == .unknown
        }
        guard isCertain else { return false }
        let model = model(
            of: family,
            members.filter { membership(of: $0, in: answer.revision) == .inside })
        let person = model.person(name)
        guard person != .unpredicted, answer.nextPageToken.isEmpty else { return true }
        comparedCount += 1
        let verdicts = VerdictModel(of: person, in: model, SimulatedCatalog())
        let expected = model.transactions(of: person).map {
            "\($0.copy.id)@\($0.copy.signed)\(verdicts.isOverridden($0) ? " overridden" : "")"
        }
        let shown = answer.transactions.map {
            "\($0.transactionID)@\($0.signedDateMilliseconds)"
                + ($0.overridden ? " overridden" : "")
        }
        if expected.sorted() != shown.sorted() {
            report(
                "customer",
                "\(name.summary) of revision \(answer.revision) shows \(shown.sorted()), expected "
                    + "\(expected.sorted())")
        }
        let uuids = answer.notifications.map(\.notificationUUID.description).sorted()
        if zip(uuids, uuids.dropFirst()).contains(where: ==) {
            report("customer", "\(name.summary) shows a notification twice")
        }
        let products = Set(model.transactions(of: person).map(\.copy.product.id)).sorted()
        if answer.entitlements.map(\.productID.description) != products {
            report("customer", "\(name.summary) has no entitlement of each product \(products)")
        }
        return true
    }
}
