internal import Wire

/// Something that must not happen.
package struct Finding: Error, Hashable, Sendable {
    /// The rule that was broken, in camel case.
    package var rule: String
    /// What was seen, and what was expected.
    package var detail: String
}

/// Predicts what a server may answer, from what clients were told, and tells what it may not.
///
/// It knows nothing of the server's inside. What it predicts exactly, and what only as a rule that
/// every answer keeps, stands in *Simulation*, beside how to run it.
final class Auditor {
    /// What is known of a write.
    struct WriteRecord {
        let write: SimulatedWrite
        /// What everybody knew when it was first sent: it is in a later revision, if in any.
        var lower: UInt64?
        /// The revision that contains it.
        var exact: UInt64?
        /// A revision by which it was in.
        var upper: UInt64?
        var attemptCount = 0
        /// Attempts that are neither answered nor given up.
        var openCount = 0
        /// Attempts of which nobody knows whether they were carried out.
        var lostCount = 0
        /// Answers other than DUPLICATE.
        var firstAnswerCount = 0

        var isAnswered: Bool { exact != nil || upper != nil }
    }

    /// Whether a write is part of a revision.
    enum Membership {
        case inside
        case outside
        case unknown
    }

    /// An answer whose verdict waits until it is known which writes it had seen.
    struct OpenVerdict {
        var asked: Asked
        var question: CheckQuestion
        var answer: Message.CheckAccessResponse
        var answeredAt: Int64
    }

    /// A customer as shown, which waits likewise.
    struct OpenCustomer {
        var name: SimulatedName
        var answer: Message.GetCustomerResponse
    }

    let plan: SimulationPlan
    let clock: SimulatedClock
    private(set) var finding: Finding?
    /// The newest revision that any client was told.
    private(set) var floor: UInt64 = 0
    /// When the floor rose, in simulated ms, and to what.
    private var rises: [(at: Int64, revision: UInt64)] = []
    private(set) var writes: [WriteRecord] = []
    private(set) var writesOfFamily: [[Int]]
    /// Which write an answer said to be a revision.
    private var claims: [UInt64: Int] = [:]
    /// What checks on a connection were told last.
    private var checkRevisions: [Int: UInt64] = [:]
    private(set) var catalogs: [(at: Int64, catalog: SimulatedCatalog)] = []
    var openVerdicts: [OpenVerdict] = []
    var openCustomers: [OpenCustomer] = []
    var families: [FamilyView?]
    /// Answers about access that were compared with the model.
    var comparedCount = 0
    /// Answers of which too many writes were uncertain for a comparison.
    var uncertainCount = 0

    init(_ plan: SimulationPlan, clock: SimulatedClock, catalog: SimulatedCatalog) {
        self.plan = plan
        self.clock = clock
        writesOfFamily = Array(repeating: [], count: plan.familyCount)
        families = Array(repeating: nil, count: plan.familyCount)
        catalogs = [(at: 0, catalog: catalog)]
    }

    func report(_ rule: String, _ detail: String) {
        if finding == nil { finding = Finding(rule: rule, detail: detail) }
    }

    // MARK: What happens

    /// A write exists; its index is the count before.
    func add(_ write: SimulatedWrite) {
        precondition(write.index == writes.count)
        writes.append(WriteRecord(write: write))
        // A rebuild says nothing of anybody.
        if case .rebuild = write.content { return }
        writesOfFamily[write.family].append(write.index)
    }

    /// The catalog was replaced; every check from now on is answered by this one.
    func reloaded(_ catalog: SimulatedCatalog) {
        catalogs.append((at: clock.nowMilliseconds, catalog: catalog))
    }

    func sent(_ asked: Asked) {
        guard case .write(let index) = asked.inquiry else { return }
        if writes[index].lower == nil { writes[index].lower = asked.floor }
        writes[index].attemptCount += 1
        writes[index].openCount += 1
    }

    /// No answer will come: the connection is gone.
    func lost(_ asked: Asked) {
        guard case .write(let index) = asked.inquiry else { return }
        writes[index].openCount -= 1
        writes[index].lostCount += 1
    }

    /// An attempt was refused.
    func noteRefusal(of index: Int, mayComeBack: Bool) {
        writes[index].openCount -= 1
        if mayComeBack { writes[index].lostCount += 1 }
    }

    func connectionEnded(_ connection: Int) { checkRevisions[connection] = nil }

    /// The answer to `asked`, and whether it was carried out; false: it is to be tried again, if
    /// trying can help.
    func received(_ response: Response, to asked: Asked) -> Bool {
        guard response.status == .ok else {
            refused(response, asked)
            return false
        }
        switch (asked.inquiry, response.result) {
        case (.check(let question), .checkAccess(let answer)?):
            noteRevision(answer.revision, of: asked)
            noteVerdict(answer, to: question, asked)
        case (.batch(let questions), .checkAccessBatch(let answer)?):
            received(answer, to: questions, asked)
        case (.write(let index), let result?):
            acknowledged(index, result, asked)
        case (.customer(let name), .getCustomer(let answer)?):
            noteRevision(answer.revision, of: asked, isCheck: false)
            openCustomers.append(OpenCustomer(name: name, answer: answer))
            for entitlement in answer.entitlements {
                noteVerdict(entitlement, of: answer.revision, about: name, asked)
            }
        case (.serverInfo, .getServerInfo(let answer)?):
            noteRevision(answer.revision, of: asked)
        default:
            report("answerOfOtherKind", "\(asked.inquiry.summary) was answered by another kind")
        }
        return true
    }

    private func received(
        _ answer: Message.CheckAccessBatchResponse, to questions: [CheckQuestion], _ asked: Asked
    ) {
        noteRevision(answer.revision, of: asked)
        guard answer.results.count == questions.count else {
            return report(
                "batchCount", "\(questions.count) checks have \(answer.results.count) answers")
        }
        for (question, result) in zip(questions, answer.results) {
            if result.revision != answer.revision {
                report(
                    "batchRevision",
                    "a batch of revision \(answer.revision) holds one of \(result.revision)")
            }
            noteVerdict(result, to: question, asked)
        }
    }

    private func noteVerdict(
        _ answer: Message.CheckAccessResponse, to question: CheckQuestion, _ asked: Asked
    ) {
        if answer.revision < question.minRevision {
            report(
                "minRevision",
                "\(question.summary) was answered from revision \(answer.revision)")
        }
        openVerdicts.append(
            OpenVerdict(
                asked: asked, question: question, answer: answer,
                answeredAt: clock.nowMilliseconds))
    }

    /// A customer's entitlements are what checks of his products would have said.
    private func noteVerdict(
        _ entitlement: Message.Entitlement, of revision: UInt64, about name: SimulatedName,
        _ asked: Asked
    ) {
        let id = entitlement.productID.description
        guard let product = SimulatedProduct.allCases.first(where: { $0.id == id }) else {
            return report("customer", "\(name.summary) has a product \(id)")
        }
        var answer = Message.CheckAccessResponse()
        answer.granted = entitlement.granted
        answer.reason = entitlement.reason
        answer.validUntilMilliseconds = entitlement.validUntilMilliseconds
        answer.transactionID = entitlement.transactionID
        answer.revision = revision
        noteVerdict(answer, to: CheckQuestion(name: name, product: product), asked)
    }

    // MARK: Revisions

    /// Nothing that anybody was told before may be missing.
    private func noteRevision(_ revision: UInt64, of asked: Asked, isCheck: Bool = true) {
        if revision < asked.floor {
            report(
                "stale",
                "\(asked.inquiry.summary) was answered from revision \(revision), after somebody "
                    + "had been told \(asked.floor)")
        }
        raiseFloor(to: revision)
        // Reads by workers may be overtaken by what loops answer.
        guard isCheck else { return }
        if let last = checkRevisions[asked.connection], revision < last {
            report("backwards", "revision \(revision) follows \(last) on one connection")
        }
        checkRevisions[asked.connection] = revision
    }

    private func raiseFloor(to revision: UInt64) {
        guard revision > floor else { return }
        floor = revision
        rises.append((at: clock.nowMilliseconds, revision: revision))
    }

    /// When somebody was told of a revision for the first time, in simulated ms; nil: nobody was.
    func toldAt(_ revision: UInt64) -> Int64? {
        rises.first { $0.revision >= revision }?.at
    }

    private func acknowledged(_ index: Int, _ result: Response.Result, _ asked: Asked) {
        writes[index].openCount -= 1
        let record = writes[index]
        switch (record.write.content, result) {
        case (.notification(let fact), .ingestNotification(let answer)):
            acknowledged(index, fact, answer)
        case (.upload, .ingestTransactions(let answer)):
            // One that brings nothing new is no revision of its own.
            let isRevision = !answer.changes.isEmpty
            settle(index, at: answer.revision, isExact: isRevision)
            if isRevision { claim(answer.revision, by: index) }
        case (.link, .linkCustomer(let answer)), (.household, .linkCustomer(let answer)),
            (.transfer, .linkCustomer(let answer)):
            let isFirst = record.attemptCount == 1 && !record.write.isRepetition
            settle(index, at: answer.revision, isExact: isFirst)
            if isFirst { claim(answer.revision, by: index) }
        case (.rebuild(let name, _), .rebuildCustomer(let answer)):
            settle(index, at: answer.revision, isExact: false)
            if !answer.changes.isEmpty {
                report(
                    "rebuildChanges",
                    "a rebuild of \(name.summary) found \(answer.changes.count) answers to change")
            }
        default:
            report("answerOfOtherKind", "write \(index) was answered by another kind")
        }
    }

    private func acknowledged(
        _ index: Int, _ fact: NotificationFact, _ answer: Message.IngestNotificationResponse
    ) {
        if answer.notificationUUID != Text(fact.uuid) {
            report("otherNotification", "\(fact.uuid) was answered as \(answer.notificationUUID)")
        }
        if answer.disposition != .duplicate {
            writes[index].firstAnswerCount += 1
            if writes[index].firstAnswerCount > 1 {
                report("takenTwice", "\(fact.uuid) was taken in twice")
            }
        }
        if let exact = writes[index].exact, exact != answer.revision {
            report(
                "otherRevision",
                "\(fact.uuid) is in revision \(exact), and then in \(answer.revision)")
        }
        settle(index, at: answer.revision, isExact: true)
        claim(answer.revision, by: index)
    }

    private func settle(_ index: Int, at revision: UInt64, isExact: Bool) {
        raiseFloor(to: revision)
        if let lower = writes[index].lower, isExact, revision <= lower {
            report(
                "revisionBeforeWrite",
                "write \(index) is said to be in revision \(revision), which was there before it")
        }
        if isExact {
            writes[index].exact = revision
        } else {
            writes[index].upper = min(writes[index].upper ?? .max, revision)
        }
    }

    /// One revision is one write.
    private func claim(_ revision: UInt64, by index: Int) {
        if let other = claims[revision], other != index {
            report("revisionTwice", "writes \(other) and \(index) are both revision \(revision)")
        }
        claims[revision] = index
    }

    /// At the end, when nothing is outstanding: every revision is somebody's write.
    func auditRevisions() {
        let uncertain = writes.reduce(0) { sum, record in
            sum + record.attemptCount - (record.exact == nil ? 0 : 1)
        }
        let unclaimed = Int(floor) - claims.count
        if unclaimed > uncertain || unclaimed < 0 {
            report(
                "gap",
                "of \(floor) revisions \(claims.count) are known writes, and only \(uncertain) "
                    + "attempts can be behind the others")
        }
    }

    /// Whether a write is in what a revision has seen.
    func membership(of index: Int, in revision: UInt64) -> Membership {
        let record = writes[index]
        guard let lower = record.lower, revision > lower else { return .outside }
        if let exact = record.exact { return revision >= exact ? .inside : .outside }
        if let upper = record.upper, revision >= upper { return .inside }
        if !record.isAnswered, record.openCount == 0, record.lostCount == 0 { return .outside }
        return .unknown
    }
}
