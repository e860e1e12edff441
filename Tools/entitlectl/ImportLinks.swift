internal import EntitledClient

/// Says to a server what was said of customers to the one that exported them: what is said there
/// already is not said again, and what contradicts it is refused.
struct ImportedLinks {
    struct Refused: Sendable {
        let line: Int
        let refusal: Refusal
    }

    private struct Move: Sendable {
        let line: Int
        let customerID: String
        let identity: CustomerReference
        let revision: UInt64
    }

    private struct Outcome: Sendable {
        var sentCount = 0
        var changeCount = 0
        var refusals: [Refused] = []
    }

    /// So many customers are under way at once.
    private static let waitingCountMax = 64

    private let client: Client
    private let run: ImportRun
    private var waiting: [(line: Int, customer: ImportedCustomer)] = []
    /// What was moved, in the order of lines; some hundred bytes for each.
    private var moves: [Move] = []
    /// Whose the file says that they were before they were moved.
    private var earlier: [[UInt8]: String] = [:]
    private var changeCount = 0
    /// How many links were sent, or would be.
    private(set) var sentCount = 0

    init(client: Client, run: ImportRun) {
        self.client = client
        self.run = run
    }

    /// Whether some are to be said before more are added.
    var isFull: Bool { waiting.count >= Self.waitingCountMax }

    /// Whether anything is to be said before transactions.
    var isWaiting: Bool { !waiting.isEmpty || !moves.isEmpty }

    mutating func add(_ customer: ImportedCustomer, at line: Int) {
        guard let name = customer.customerID else { return }
        waiting.append((line, customer))
        for link in customer.links {
            if let revision = link.movedAtRevision {
                moves.append(
                    Move(
                        line: line, customerID: name, identity: link.identity, revision: revision))
            } else {
                earlier[link.bytes] = name
            }
        }
    }

    mutating func takeChangeCount() -> Int {
        defer { changeCount = 0 }
        return changeCount
    }

    /// Says what waits; with `isLast` also what was moved, in the order in which it was.
    mutating func say(isLast: Bool) async throws(ClientError) -> [Refused] {
        let customers = waiting
        waiting = []
        var refusals: [Refused] = []
        let outcomes = await withTaskGroup(of: Result<Outcome, ClientError>.self) { group in
            for (line, customer) in customers {
                let work = self
                group.addTask { await work.say(customer, at: line) }
            }
            var outcomes: [Result<Outcome, ClientError>] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        for outcome in outcomes { note(try outcome.get(), &refusals) }
        guard isLast else { return refusals.sorted { $0.line < $1.line } }
        let moves = self.moves.sorted { $0.revision < $1.revision }
        self.moves = []
        for move in moves { note(try await say(move), &refusals) }
        return refusals.sorted { $0.line < $1.line }
    }

    private mutating func note(_ outcome: Outcome, _ refusals: inout [Refused]) {
        sentCount += outcome.sentCount
        changeCount += outcome.changeCount
        refusals += outcome.refusals
    }

    private func say(
        _ customer: ImportedCustomer, at line: Int
    ) async -> Result<Outcome, ClientError> {
        do throws(ClientError) {
            return .success(try await said(customer, at: line))
        } catch {
            return .failure(error)
        }
    }

    private func said(
        _ customer: ImportedCustomer, at line: Int
    ) async throws(ClientError) -> Outcome {
        let name = customer.customerID ?? ""
        let known = try await known(.customer(name))
        var outcome = Outcome()
        for link in customer.links where link.movedAtRevision == nil {
            if known?.links.contains(where: { $0.bytes == link.bytes }) == true { continue }
            try await send(
                CustomerLink(customerID: name, identity: link.identity), line, &outcome)
        }
        let household = known?.householdID
        if !customer.householdID.isEmpty, !isSame(household, customer.householdID) {
            guard household == nil else {
                let refusal = Refusal(
                    status: .failedPrecondition, reason: "HOUSEHOLD_CONFLICT",
                    message: "the customer is in another household here")
                outcome.refusals.append(Refused(line: line, refusal: refusal))
                return outcome
            }
            try await send(
                CustomerLink(customerID: name, household: .join(customer.householdID)), line,
                &outcome)
        }
        let isBare =
            customer.householdID.isEmpty && customer.links.isEmpty && !customer.hasTransactions
        if known == nil, isBare {
            // Nothing but the name is known: it is the difference between nobody and nothing.
            try await send(CustomerLink(customerID: name, household: .leave), line, &outcome)
        }
        return outcome
    }

    /// Moves what was moved, unless somebody has said something else here.
    private func say(_ move: Move) async throws(ClientError) -> Outcome {
        var outcome = Outcome()
        if let holder = try await known(move.identity) {
            let bytes = LinkedIdentity(identity: move.identity).bytes
            let words = holder.links.filter {
                LinkedIdentity(identity: $0.identity).bytes == bytes
            }
            let isMoved = words.contains { $0.movedAtRevision != nil }
            let isOwn = isSame(holder.customerID, move.customerID)
            if isOwn, isMoved { return outcome }
            let isEarlier = isSame(earlier[bytes], holder.customerID)
            if !isOwn, isMoved || (!words.isEmpty && !isEarlier) {
                let refusal = Refusal(
                    status: .failedPrecondition, reason: "IDENTITY_CONFLICT",
                    message: "\(move.identity.exported.kind) \(move.identity.exported.name) "
                        + "belongs to another customer here")
                outcome.refusals.append(Refused(line: move.line, refusal: refusal))
                return outcome
            }
        }
        try await send(
            CustomerLink(
                customerID: move.customerID, identity: move.identity, transfersOwnership: true),
            move.line, &outcome)
        return outcome
    }

    private func send(
        _ link: CustomerLink, _ line: Int, _ outcome: inout Outcome
    ) async throws(ClientError) {
        outcome.sentCount += 1
        guard !run.isDryRun else { return }
        do throws(ClientError) {
            let client = client
            let result = try await LongWork.retrying("line \(line)", run.invocation.console) {
                () throws(ClientError) in try await client.linkCustomer(link)
            }
            outcome.changeCount += result.changes.count
        } catch {
            guard case .refused(let refusal) = error, refusal.isAboutOneLine else { throw error }
            outcome.sentCount -= 1
            outcome.refusals.append(Refused(line: line, refusal: refusal))
        }
    }

    /// What the server knows of somebody; nil: nobody.
    private func known(
        _ reference: CustomerReference
    ) async throws(ClientError) -> Customer? {
        do throws(ClientError) {
            let client = client
            return try await LongWork.retrying("a customer", run.invocation.console) {
                () throws(ClientError) in
                var pages = client.customerPages(of: reference).makeAsyncIterator()
                return try await pages.next(isolation: nil)
            }
        } catch {
            guard case .refused(let refusal) = error, refusal.reason == "UNKNOWN_CUSTOMER" else {
                throw error
            }
            return nil
        }
    }

    /// Byte by byte.
    private func isSame(_ left: String?, _ right: String) -> Bool {
        left.map { $0.utf8.elementsEqual(right.utf8) } ?? false
    }
}

extension LinkedIdentity {
    /// To be compared byte by byte, as names are.
    fileprivate var bytes: [UInt8] { Array(exported.utf8) }
}

extension Refusal {
    /// Whether it says something of what was asked, and nothing of who asks or of the server.
    fileprivate var isAboutOneLine: Bool {
        ["IDENTITY_CONFLICT", "INVALID_IDENTIFIER", "INVALID_FIELD"].contains(reason)
    }
}
