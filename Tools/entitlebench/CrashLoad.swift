internal import EntitledClient
internal import Synchronization
internal import TestSupport
internal import ToolSupport

/// Writes and checks over several connections until the server is gone.
struct CrashLoad: Sendable {
    /// What the connections do beside handing in events and checking what they did.
    enum Mix: Sendable {
        /// Nothing.
        case ingest
        /// They rebuild customers and give them names.
        case storm
    }

    /// Where the server listens.
    let address: String
    let ledger: CrashLedger
    let signer: SeedSigner
    let connectionCount: Int
    let mix: Mix
    let seed: UInt64
    /// Told of each wrong answer.
    let onWrong: @Sendable (String) -> Void

    /// Drives the server until a call finds it gone; `whileDriving` is to see to that.
    ///
    /// - Throws: `CommandFailure` when no client can be made.
    func run(_ whileDriving: @Sendable @escaping () async -> Void) async throws(CommandFailure) {
        var clients: [Client] = []
        defer { for client in clients { client.close() } }
        for _ in 0..<connectionCount { clients.append(try Self.client(address)) }
        let all = clients
        await withTaskGroup(of: Void.self) { group in
            for (index, client) in all.enumerated() {
                let other = all[(index + 1) % all.count]
                group.addTask { await drive(client, other, seed &+ UInt64(index)) }
            }
            await whileDriving()
            await group.waitForAll()
        }
    }

    /// A client that tries everything once.
    ///
    /// - Throws: `CommandFailure` when the address is none.
    static func client(_ address: String) throws(CommandFailure) -> Client {
        var configuration = ClientConfiguration()
        configuration.attemptCountMax = 1
        configuration.timeout = .seconds(20)
        do {
            return try Client(address: address, configuration: configuration)
        } catch {
            throw CommandFailure(.failed, "the server listens at \(address)")
        }
    }

    private func drive(_ client: Client, _ other: Client, _ seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var isThere = true
        while isThere && Interruption.signalNumber == nil {
            switch mix {
            case .storm where random.oneIn(2):
                guard let customer = ledger.someCustomer(random.next()) else { fallthrough }
                isThere =
                    random.oneIn(2)
                    ? await rebuild(customer, client) : await link(customer, client)
            case .ingest, .storm: isThere = await ingest(client, other)
            }
        }
    }

    /// Hands in an event, and asks another connection for it once it was answered.
    private func ingest(_ client: Client, _ other: Client) async -> Bool {
        let event = ledger.nextEvent()
        guard let body = Self.body(of: event, ledger, signer) else { return false }
        do throws(ClientError) {
            let result = try await client.ingestNotification(body)
            ledger.acknowledge(event, revision: result.revision)
            if result.disposition != .applied {
                onWrong("event \(event), handed in once, was answered \(result.disposition)")
            }
        } catch { return await Self.isMild(error) }
        let customer = ledger.events.customer(of: event)
        guard let answer = try? await Self.check(customer, ledger.events.plan, other) else {
            return true
        }
        let count = ledger.events.roundCount(of: customer, naming: answer.transactionID) ?? 0
        if !answer.isGranted || count <= ledger.events.round(of: event) {
            onWrong("event \(event) was answered and another connection does not see it: \(answer)")
        }
        return true
    }

    private func rebuild(_ customer: Int, _ client: Client) async -> Bool {
        do throws(ClientError) {
            let result = try await client.rebuildCustomer(
                Self.reference(customer, ledger.events.plan), source: .storedFacts)
            if !result.changes.isEmpty {
                onWrong("a rebuild of customer \(customer) changed access: \(result.changes)")
            }
            return true
        } catch { return await Self.isMild(error) }
    }

    private func link(_ customer: Int, _ client: Client) async -> Bool {
        ledger.beginLink(of: customer)
        do throws(ClientError) {
            let result = try await Self.link(customer, ledger.events.plan, client)
            ledger.acknowledgeLink(of: customer, revision: result.revision)
            return true
        } catch { return await Self.isMild(error) }
    }

    /// A server that answers is there, whatever it says: what was refused was not done.
    private static func isMild(_ error: ClientError) async -> Bool {
        guard case .refused = error else { return false }
        // On a full disk thousands would be refused, and each is looked for afterwards.
        try? await Task.sleep(for: .milliseconds(5))
        return true
    }
}

// MARK: - Calls

extension CrashLoad {
    /// What Apple would POST about an event; nil when it cannot be signed.
    static func body(of event: Int, _ ledger: CrashLedger, _ signer: SeedSigner) -> [UInt8]? {
        let transaction = ledger.events.transaction(event)
        return try? signer.body(
            ledger.events.notification(event), transaction,
            ledger.events.renewal(with: transaction))
    }

    /// The customer by his chain: nobody has to have named him.
    static func reference(_ customer: Int, _ plan: SeedPlan) -> CustomerReference {
        .originalTransaction(
            plan.transactionID(of: customer, period: plan.firstPeriod(of: customer)))
    }

    /// Whether he has his product now.
    ///
    /// - Throws: `ClientError`.
    static func check(
        _ customer: Int, _ plan: SeedPlan, _ client: Client
    ) async throws(ClientError) -> AccessAnswer {
        try await client.checkAccess(
            reference(customer, plan), product: plan.product(of: customer))
    }

    /// Gives him his name.
    ///
    /// - Throws: `ClientError`.
    static func link(
        _ customer: Int, _ plan: SeedPlan, _ client: Client
    ) async throws(ClientError) -> WriteResult {
        try await client.linkCustomer(
            CustomerLink(
                customerID: plan.name(of: customer), identity: reference(customer, plan)))
    }
}
