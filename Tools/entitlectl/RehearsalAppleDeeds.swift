internal import EntitledClient
internal import ToolSupport

/// What a step does that needs Apple beside the server.
enum AppleDeed {
    /// A body comes through the HTTP door; right is this answer: `200 APPLIED`.
    case post([UInt8], to: String, by: RehearsalAppStore, answer: String)
    /// A part of Apple's notification history is replayed; right are these notificationUUIDs.
    case backfill(Backfill, recovers: [String])
    /// A person's history is fetched.
    case rebuild(Person, isDryRun: Bool)
    /// The same, while Apple does not give it: right is to be told to come again, for this reason.
    case rebuildInVain(Person, timeout: Duration, reason: String)
    /// The bill of a product is asked for; right are these lines.
    case bill([ExpectedBill])
    /// The server asks Apple until it has nothing left to ask.
    case settle
}

extension Rehearsal {
    /// Does the deed.
    ///
    /// - Returns: What the server said to it.
    mutating func perform(
        _ deed: AppleDeed, _ before: Rights, _ after: Rights, _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        switch deed {
        case .post(let body, let url, let apple, let answer):
            return post(body, to: url, by: apple, expecting: answer, &complaints)
        case .backfill(let backfill, let recovered):
            return try await replay(backfill, recovering: recovered, before, after, &complaints)
        case .rebuild(let person, let isDryRun):
            let result = try await writer.rebuildCustomer(
                .customer(person.userID), source: .appStore, isDryRun: isDryRun)
            complaints += findings(result.changes, before, after)
            complaints += result.problems.map { "not believed: \($0.message)" }
            if !isDryRun { acknowledge(result.revision, &complaints) }
            let word = isDryRun ? "dry run over" : "fetched"
            return text("\(word) \(result.transactionCount) copies", result.changes)
        case .rebuildInVain(let person, let timeout, let reason):
            return try await rebuildInVain(person, timeout, reason: reason, &complaints)
        case .bill(let lines):
            return try await bill(lines, &complaints)
        case .settle:
            let state = try await settle()
            if state.queuedCount > 0 {
                complaints.append("\(state.queuedCount) wait for Apple; right is nobody")
            }
            return "\(state.succeededCount) fetches since its start"
        }
    }

    private func post(
        _ body: [UInt8], to url: String, by apple: RehearsalAppStore, expecting answer: String,
        _ complaints: inout [String]
    ) -> String {
        do throws(CommandFailure) {
            let said = try apple.post(body, to: url)
            if said != answer { complaints.append("answered \(said); right is \(answer)") }
            return said
        } catch {
            complaints.append(error.message)
            return "no answer"
        }
    }

    private mutating func replay(
        _ backfill: Backfill, recovering right: [String], _ before: Rights, _ after: Rights,
        _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        var changes: [AccessChange] = []
        var recovered: [String] = []
        var readCount = 0
        for try await page in writer.backfillPages(backfill) {
            readCount += page.notificationCount
            recovered += page.recovered.map(\.notificationUUID)
            changes += page.changes
            complaints += page.problems.map { "not believed: \($0.message)" }
            acknowledge(page.revision, &complaints)
        }
        if recovered.sorted() != right.sorted() {
            complaints.append("\(recovered.count) recovered; right are \(right.count)")
        }
        complaints += findings(changes, before, after)
        return text("read \(readCount), recovered \(recovered.count)", changes)
    }

    private func rebuildInVain(
        _ person: Person, _ timeout: Duration, reason: String, _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        do throws(ClientError) {
            _ = try await writer.rebuildCustomer(
                .customer(person.userID), source: .appStore, timeout: timeout)
            complaints.append("it was fetched; Apple has not given it")
            return "fetched"
        } catch .refused(let refusal) {
            if refusal.reason != reason {
                complaints.append("refused for \(refusal.reason); right is \(reason)")
            }
            if refusal.retryAfterMilliseconds == 0 {
                complaints.append("the server did not say when to come again")
            }
            let state = try await reader.reconciliation(pageSize: 1)
            if state.queuedCount != 1 {
                complaints.append("\(state.queuedCount) wait for Apple; right is 1")
            }
            let wait = TimeSpan.text(milliseconds: refusal.retryAfterMilliseconds)
            return "refused: \(refusal.reason), again in \(wait); queued"
        } catch {
            throw error
        }
    }

    /// Asks for the bill until it is right: what was served is stored a moment later.
    private func bill(
        _ lines: [ExpectedBill], _ complaints: inout [String]
    ) async throws(ClientError) -> String {
        let product = lines.first?.purchase.product ?? .atlas
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        while true {
            var records: [RefundRecord] = []
            let pages = reader.refundPages(RefundFilter(productID: product.rawValue))
            for try await page in pages { records += page.entries }
            let found = ExpectedBill.complaints(records, lines, tally)
            if found.isEmpty || clock.now >= limit || Interruption.signalNumber != nil {
                complaints += found
                return RefundReport(records, by: .product).drillText
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the server has nothing left to ask of Apple.
    ///
    /// - Throws: `CommandFailure` when that does not come.
    func untilSettled() async throws(CommandFailure) {
        let state: Reconciliation
        do throws(ClientError) {
            state = try await settle()
        } catch {
            throw CommandFailure(error, address: address)
        }
        try checkInterruption()
        guard state.queuedCount > 0 else { return }
        let reason = state.refreshes.first?.lastMessage ?? ""
        throw CommandFailure(
            .failed, "the server goes on asking Apple about \(state.queuedCount): \(reason)")
    }

    /// The same.
    ///
    /// - Returns: The state of its queue at the end; not empty when patience was at its end.
    @discardableResult
    func settle() async throws(ClientError) -> Reconciliation {
        let clock = ContinuousClock()
        let limit = clock.now + Self.patience
        while true {
            let state = try await reader.reconciliation(pageSize: 1)
            if state.queuedCount == 0 || clock.now >= limit || Interruption.signalNumber != nil {
                return state
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}

extension RefundReport {
    /// The bill in one line.
    fileprivate var drillText: String {
        let text = sums.map { sum -> String in
            let figures = sum.figures
            let served = figures.served
            let money =
                sum.currency.isEmpty
                ? "payment unknown"
                : "\(Amount.thousandths(figures.refundedMilliunits)) \(sum.currency) back"
            return "\(money): \(figures.peopleServed) people, \(served.checks) checks,"
                + " \(served.units) units; leaked \(figures.leaked.checks) checks,"
                + " \(figures.leaked.units) units; cost \(Amount.millionths(figures.costMicros))"
        }
        return text.joined(separator: "; ")
    }
}
