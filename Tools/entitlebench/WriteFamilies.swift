internal import EntitledClient
internal import LoadGenerator
internal import TestSupport
internal import ToolSupport

/// The workload `family-refund`: in many families at once the buyer's refund arrives, then a REVOKE
/// for each of the five others, while all six are asked about without a pause.
///
/// The oracle is the story itself: a person has access until the notification that ends it is
/// handed in, may have it or not while that is under way, and has none after its answer. That
/// holds for every check on whatever connection.
struct WriteFamilies: Sendable {
    /// The population.
    let plan: SeedPlan
    /// Signs what Apple would.
    let signer: SeedSigner
    /// So many families are in the middle of it at a time.
    let familyCountAtOnce: Int

    /// What was seen.
    struct Outcome: Equatable, Sendable {
        /// Families that lost what they shared.
        var familyCount = 0
        /// Checks, all of them held against the story.
        var checkCount = 0
        /// Checks that were sent after the end of that person's access had been acknowledged.
        var checkCountAfterEnd = 0
        /// What was answered wrongly; empty when all is right.
        var wrongAnswers: [String] = []
        /// Of each notification, in nanoseconds, as its caller sees it.
        var ingests = Histogram()
        /// Wall time, in nanoseconds.
        var nanoseconds: Int64 = 0

        /// The same as every workload reports it: latencies are those of the notifications.
        var loadOutcome: LoadOutcome {
            LoadOutcome(
                seconds: Double(nanoseconds) / 1e9,
                answerCount: UInt64(checkCount) + ingests.count, checkCount: UInt64(checkCount),
                latencies: ingests, wrongAnswers: wrongAnswers)
        }

        /// Adds what another family has seen.
        mutating func add(_ other: Outcome) {
            familyCount += other.familyCount
            checkCount += other.checkCount
            checkCountAfterEnd += other.checkCountAfterEnd
            wrongAnswers += other.wrongAnswers
            ingests.merge(other.ingests)
        }
    }

    /// 2026-04-01: when the first family's payment went back.
    private static let refund: Int64 = 1_775_001_600_000

    /// The first customers of families that share something paid for, at most so many.
    func families(countMax: Int) -> [Int] {
        var found: [Int] = []
        for buyer in stride(from: 0, to: plan.customerCount, by: SeedPlan.groupSize) {
            guard found.count < countMax else { break }
            if plan.kind(of: buyer) == .familyBuyer { found.append(buyer) }
        }
        return found
    }

    /// Plays it in these families.
    ///
    /// - Throws: `CommandFailure` when a call fails; wrong answers are in the outcome.
    func run(_ families: [Int], on client: Client) async throws(CommandFailure) -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = Outcome()
        do {
            try await withThrowingTaskGroup(of: Outcome.self) { group in
                for (position, buyer) in families.enumerated() {
                    if position >= familyCountAtOnce, let done = try await group.next() {
                        outcome.add(done)
                    }
                    group.addTask { try await play(buyer, on: client) }
                }
                for try await done in group { outcome.add(done) }
            }
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.failed, "a call failed: \(error)")
        }
        outcome.nanoseconds = (clock.now - start).nanoseconds
        return outcome
    }

    /// One family, from the refund to the last REVOKE.
    private func play(_ buyer: Int, on client: Client) async throws -> Outcome {
        var outcome = Outcome(familyCount: 1)
        let people = buyer..<min(buyer + SeedPlan.groupSize, plan.customerCount)
        try await look(at: people, endedBelow: buyer, client, &outcome)
        for person in people {
            let body = try self.body(endingAccessOf: person)
            // While it is under way both answers are right; that it is asked is the point.
            async let asked = ask(about: people, client)
            let clock = ContinuousClock()
            let start = clock.now
            let ingested = try await client.ingestNotification(body)
            outcome.ingests.record(UInt64(max(0, (clock.now - start).nanoseconds)))
            if ingested.disposition != .applied {
                outcome.wrongAnswers.append("customer \(person): \(ingested.disposition)")
            }
            for (other, answer) in try await asked {
                outcome.checkCount += 1
                guard other != person else { continue }
                check(answer, of: other, hasEnded: other < person, &outcome)
            }
            try await look(at: people, endedBelow: person + 1, client, &outcome)
        }
        return outcome
    }

    private func ask(
        about people: Range<Int>, _ client: Client
    ) async throws(ClientError) -> [(Int, AccessAnswer)] {
        var answers: [(Int, AccessAnswer)] = []
        for person in people { answers.append((person, try await answer(about: person, client))) }
        return answers
    }

    private func answer(
        about person: Int, _ client: Client
    ) async throws(ClientError) -> AccessAnswer {
        try await client.checkAccess(
            .customer(plan.name(of: person)), product: plan.product(of: person))
    }

    /// Asks about all; those below `ended` have no access any more.
    private func look(
        at people: Range<Int>, endedBelow ended: Int, _ client: Client, _ outcome: inout Outcome
    ) async throws(ClientError) {
        for (person, answer) in try await ask(about: people, client) {
            outcome.checkCount += 1
            check(answer, of: person, hasEnded: person < ended, &outcome)
        }
    }

    private func check(
        _ answer: AccessAnswer, of person: Int, hasEnded: Bool, _ outcome: inout Outcome
    ) {
        if hasEnded { outcome.checkCountAfterEnd += 1 }
        let expected = plan.expectation(of: person)
        let reason: AccessReason =
            !hasEnded ? .active : plan.kind(of: person).isMember ? .familyRefunded : .refunded
        guard answer.isGranted != hasEnded, answer.reason == reason,
            answer.transactionID == expected.transactionID
        else {
            outcome.wrongAnswers.append(
                "customer \(person), whose access has\(hasEnded ? "" : " not") ended: \(answer)")
            return
        }
    }

    /// What Apple POSTs when this person's access ends: REFUND to the buyer, REVOKE to the others.
    func body(endingAccessOf person: Int) throws(RehearsalAuthorityError) -> [UInt8] {
        let transactions = plan.transactions(of: person)
        var last = transactions[transactions.count - 1]
        let group = person - person % SeedPlan.groupSize
        last.revocationDate = Self.refund + Int64(group) * 100
        last.signedDate = last.revocationDate + 4_000 + Int64(person - group) * 10
        let digits = String(UInt64(person), radix: 16)
        let padding = String(repeating: "0", count: 12 - digits.utf8.count)
        let event = SeedNotification(
            type: plan.kind(of: person).isMember ? "REVOKE" : "REFUND",
            uuid: "00000000-0001-4000-8000-" + padding + digits,
            signedDate: last.signedDate + 500)
        return try signer.body(event, last, nil)
    }
}
