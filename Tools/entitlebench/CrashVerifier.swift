internal import EntitledClient
internal import TestSupport
internal import ToolSupport

/// Compares a server with what it has to know: everything that was answered is there, nothing that
/// was not handed in, and nothing by halves.
struct CrashVerifier: Sendable {
    let ledger: CrashLedger
    let signer: SeedSigner
    let client: Client
    /// Whether a customer may be refused for damage, as DATA_LOSS or UNAVAILABLE.
    var allowsRefusals = false
    /// Whether what was never answered is handed in again: not where no writes are taken.
    var settles = true

    /// What was found.
    struct Findings: Sendable {
        /// Answers that were compared.
        var answerCount = 0
        /// Customers whose records were compared one by one.
        var customerCount = 0
        /// Events that had been handed in without an answer, and were there all the same.
        var survivorCount = 0
        /// Questions that were refused for damage.
        var refusalCount = 0
        /// One sentence for everything that is not as it has to be.
        var losses: [String] = []
    }

    private var events: WriteEvents { ledger.events }
    private static let batchCount = 500

    /// Compares the revision, every customer's access, all records of `customers`, and settles what
    /// is in doubt by handing it in again.
    ///
    /// - Throws: `CommandFailure` when the server goes away meanwhile.
    func verify(_ customers: [Int]) async throws(CommandFailure) -> Findings {
        var findings = Findings()
        do throws(ClientError) {
            try await compareRevision(&findings)
            try await compareAccess(&findings)
            for customer in customers {
                if Interruption.signalNumber != nil { break }
                try await compareRecords(of: customer, &findings)
            }
        } catch {
            throw CommandFailure(.failed, "the server went away while it was compared: \(error)")
        }
        return findings
    }

    private func compareRevision(_ findings: inout Findings) async throws(ClientError) {
        let revision = try await client.serverInfo().revision
        findings.answerCount += 1
        if revision < ledger.revision {
            findings.losses.append(
                "revision \(ledger.revision) was answered, the server is at \(revision)")
        }
    }

    /// The access of everybody, by chain and, where it was answered, by name.
    private func compareAccess(_ findings: inout Findings) async throws(ClientError) {
        let plan = events.plan
        var asked: [(customer: Int, entry: CrashLedger.Entry, reference: CustomerReference)] = []
        for (customer, entry) in ledger.entries.sorted(by: { $0.key < $1.key }) {
            asked.append((customer, entry, CrashLoad.reference(customer, plan)))
            if entry.isLinkDone {
                asked.append((customer, entry, .customer(plan.name(of: customer))))
            }
        }
        for start in stride(from: 0, to: asked.count, by: Self.batchCount) {
            let part = asked[start..<min(start + Self.batchCount, asked.count)]
            let answers = try await answers(
                to: part.map {
                    AccessQuestion(
                        customer: $0.reference,
                        subject: .product(plan.product(of: $0.customer)))
                })
            for (question, answer) in zip(part, answers) {
                findings.answerCount += 1
                guard let answer else {
                    refuse("the check of customer \(question.customer)", &findings)
                    continue
                }
                compare(answer, question.customer, question.entry, &findings)
            }
        }
    }

    /// One batch; where it is refused, one by one, nil for what is refused alone.
    private func answers(
        to questions: [AccessQuestion]
    ) async throws(ClientError) -> [AccessAnswer?] {
        do throws(ClientError) {
            return try await client.checkAccessBatch(questions).answers
        } catch {
            guard Self.isDamage(error) else { throw error }
        }
        var answers: [AccessAnswer?] = []
        for question in questions {
            do throws(ClientError) {
                answers.append(try await client.checkAccess(question))
            } catch {
                guard Self.isDamage(error) else { throw error }
                answers.append(nil)
            }
        }
        return answers
    }

    private func compare(
        _ answer: AccessAnswer, _ customer: Int, _ entry: CrashLedger.Entry,
        _ findings: inout Findings
    ) {
        guard answer.isGranted else {
            if !entry.done.isEmpty {
                findings.losses.append(
                    "customer \(customer) has \(entry.done.count) answered events and is told"
                        + " \(answer.reason)")
            }
            return
        }
        let count = events.roundCount(of: customer, naming: answer.transactionID) ?? 0
        if count == 0 || !entry.sent.contains(count - 1) {
            findings.losses.append(
                "customer \(customer) is shown \(answer.transactionID), never handed in")
        } else if count <= entry.done.max() ?? -1 {
            findings.losses.append(
                "customer \(customer): event \(entry.done.max() ?? -1) of his was answered, the"
                    + " newest known is \(count - 1)")
        }
    }

    private func refuse(_ what: String, _ findings: inout Findings) {
        findings.refusalCount += 1
        if !allowsRefusals { findings.losses.append("\(what) was refused") }
    }

    static func isDamage(_ error: ClientError) -> Bool {
        guard case .refused(let refusal) = error else { return false }
        return refusal.status == .dataLoss || refusal.status == .unavailable
    }
}

// MARK: - Records, one by one

extension CrashVerifier {
    /// All records of one customer: facts, notifications and verdict tell the same story.
    private func compareRecords(
        of customer: Int, _ findings: inout Findings
    ) async throws(ClientError) {
        guard let entry = ledger.entries[customer] else { return }
        findings.customerCount += 1
        let reference = CrashLoad.reference(customer, events.plan)
        var record: Customer?
        do throws(ClientError) {
            record = try await client.customer(reference)
            let rebuilt = try await client.rebuildCustomer(
                reference, source: .storedFacts, isDryRun: true)
            if !rebuilt.changes.isEmpty {
                findings.losses.append(
                    "customer \(customer): the verdict is not that of the facts: \(rebuilt.changes)"
                )
            }
        } catch {
            if Self.isDamage(error) {
                return refuse("the record of customer \(customer)", &findings)
            }
            guard case .refused(let refusal) = error, refusal.status == .notFound else {
                throw error
            }
        }
        let known = compare(record, customer, entry, &findings)
        if allowsRefusals || !settles { return }
        try await settle(customer, entry, known, &findings)
    }

    /// - Returns: the rounds whose events the server knows.
    private func compare(
        _ record: Customer?, _ customer: Int, _ entry: CrashLedger.Entry,
        _ findings: inout Findings
    ) -> Set<Int> {
        let facts = Set(record?.transactions.map(\.transactionID) ?? [])
        let notes = Set(record?.notifications.map(\.notificationUUID) ?? [])
        var known: Set<Int> = []
        for round in entry.sent {
            let event = round * events.plan.customerCount + number(of: customer)
            let hasFact = facts.contains(events.transactionID(of: customer, round: round))
            let hasNote = notes.contains(events.uuid(event))
            if hasFact { known.insert(round) }
            if hasFact != hasNote {
                findings.losses.append(
                    "event \(event) is there by halves: fact \(hasFact), notification \(hasNote)")
            }
            if !hasFact && entry.done.contains(round) {
                findings.losses.append("event \(event) was answered and is gone")
            }
        }
        if facts.count > known.count {
            findings.losses.append("customer \(customer) has transactions never handed in")
        }
        return known
    }

    /// The number of the first event of a customer.
    private func number(of customer: Int) -> Int {
        (0..<events.plan.customerCount).first { events.customer(of: $0) == customer } ?? 0
    }

    /// Hands in again what was never answered: new where nothing of it is known, a duplicate where
    /// all of it is.
    private func settle(
        _ customer: Int, _ entry: CrashLedger.Entry, _ known: Set<Int>,
        _ findings: inout Findings
    ) async throws(ClientError) {
        for round in entry.sent.subtracting(entry.done).sorted() {
            let event = round * events.plan.customerCount + number(of: customer)
            guard let body = CrashLoad.body(of: event, ledger, signer) else { continue }
            let result = try await client.ingestNotification(body)
            ledger.acknowledge(event, revision: result.revision)
            let wanted: Disposition = known.contains(round) ? .duplicate : .applied
            if known.contains(round) { findings.survivorCount += 1 }
            if result.disposition != wanted {
                findings.losses.append(
                    "event \(event), known: \(known.contains(round)), was answered"
                        + " \(result.disposition)")
            }
        }
        if entry.isLinkSent && !entry.isLinkDone {
            let result = try await CrashLoad.link(customer, events.plan, client)
            ledger.acknowledgeLink(of: customer, revision: result.revision)
        }
    }
}
