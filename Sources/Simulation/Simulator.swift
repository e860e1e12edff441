internal import OpenSSL
internal import Service
internal import TestSupport

/// What one run has shown.
package struct SimulationReport: Sendable {
    /// What was run.
    package var plan: SimulationPlan
    /// What must not happen and did; nil: nothing.
    package var finding: Finding?
    /// Equal for two runs of one seed at the same commit.
    package var traceHash: UInt64
    /// Lines of the trace.
    package var traceLineCount: Int
    /// The last of them.
    package var lastLines: [String]
    /// Events that happened.
    package var eventCount: Int
    /// Faults that happened.
    package var faultCount: Int
    /// Times that the process died.
    package var crashCount: Int
    /// Writes that clients made.
    package var writeCount: Int
    /// Answers about access that were compared with the auditor's model.
    package var comparedCount: Int
    /// Answers that too many uncertain writes kept from being compared.
    package var uncertainCount: Int
    /// The last revision that anybody was told.
    package var revision: UInt64
    /// Simulated milliseconds.
    package var milliseconds: Int64
}

/// One run of one seed: clients, network, server and store in one thread, and nothing in it that
/// the seed does not decide.
///
/// What happens is one event after the other; each has its simulated time. First things go wrong,
/// until the plan's events are used up; then faults stop, and all that is outstanding must be
/// answered in bounded time; then the process dies once more, and everything is asked again.
package final class Simulator {
    /// What happens at a moment.
    enum Action {
        case client(Int)
        case toServer(Int, Segment)
        case toClient(Int, Segment)
        case clientTakes(Int, byteCount: Int)
        case server(incarnation: Int, ServerTask)
        case warm(incarnation: Int)
        case fault
        case diskHasRoom
        case start
    }

    /// What is being looked at.
    enum Phase {
        /// Faults and new work.
        case turmoil
        /// Neither; what is outstanding is settled.
        case calm
        /// Everything is asked once more, after a last crash.
        case final
        case over
    }

    let plan: SimulationPlan
    let clock = SimulatedClock()
    let mint: Mint
    let store: CrashingStore
    let auditor: Auditor
    let workload: Workload
    var network: SimulatedNetwork
    var clients: [SimulatedClient] = []
    var server: SimulatedServer?
    var incarnation = 0
    var queue = EventQueue<Action>()
    var trace = Trace()
    var generator: SeededGenerator
    var catalog = SimulatedCatalog()
    var phase = Phase.turmoil
    var calmUntil = Int64.max
    var faultCount = 0
    var crashCount = 0
    var finalInquiries: [Inquiry] = []
    private(set) var eventCount = 0

    /// A run that has not begun.
    ///
    /// - Parameters:
    ///   - plan: What the seed decides.
    ///   - authority: Who signs; the same for any number of runs.
    package init(_ plan: SimulationPlan, authority: SimulationAuthority) {
        self.plan = plan
        mint = Mint(authority.authority)
        store = CrashingStore(seed: plan.seed ^ 0x5707_0E57, canary: plan.canary)
        auditor = Auditor(plan, clock: clock, catalog: catalog)
        workload = Workload(plan, clock: clock, auditor: auditor)
        network = SimulatedNetwork(plan)
        generator = SeededGenerator(seed: plan.seed ^ 0xFA17_5EED)
        clients = (0..<plan.clientCount).map {
            SimulatedClient(
                $0, plan, auditor: auditor, workload: workload, mint: mint, in: self)
        }
    }

    /// Runs to the end, or to the first finding.
    ///
    /// - Returns: What it has shown.
    package func run() -> SimulationReport {
        queue.insert(.start, at: 0)
        for client in clients { queue.insert(.client(client.index), at: 1) }
        queue.insert(.fault, at: 50)
        while phase != .over, auditor.finding == nil, let next = queue.pop() {
            clock.advance(to: max(clock.nowMilliseconds, next.at))
            eventCount += 1
            perform(next.action)
            if eventCount.isMultiple(of: 512) { auditor.compareOpenVerdicts(isEnd: false) }
            advancePhase()
        }
        if auditor.finding == nil { auditor.compareOpenVerdicts(isEnd: true) }
        if auditor.finding == nil { auditor.auditRevisions() }
        return report()
    }

    private func report() -> SimulationReport {
        if let finding = auditor.finding { note("FINDING \(finding.rule): \(finding.detail)") }
        return SimulationReport(
            plan: plan, finding: auditor.finding, traceHash: trace.hash,
            traceLineCount: trace.lineCount, lastLines: trace.lastLines, eventCount: eventCount,
            faultCount: faultCount, crashCount: crashCount, writeCount: auditor.writes.count,
            comparedCount: auditor.comparedCount, uncertainCount: auditor.uncertainCount,
            revision: auditor.floor, milliseconds: clock.nowMilliseconds)
    }

    private func perform(_ action: Action) {
        switch action {
        case .client(let index): act(clients[index])
        case .toServer(let connection, let segment): arrive(segment, atServerOn: connection)
        case .toClient(let connection, let segment): arrive(segment, atClientOn: connection)
        case .clientTakes(let connection, let byteCount): take(byteCount, on: connection)
        case .server(let made, let task):
            guard made == incarnation, let server else { return }
            server.perform(task)
            if store.hasCrashed { crash() }
        case .warm(let made): warm(made)
        case .fault: nextFault()
        case .diskHasRoom: store.setDiskFull(false)
        case .start: start()
        }
    }

    func note(_ text: String) { trace.note(clock.nowMilliseconds, text) }

    // MARK: Phases

    private func advancePhase() {
        switch phase {
        case .turmoil:
            if eventCount >= plan.eventCount { beginCalm() }
        case .calm:
            if isQuiet { beginFinal() } else { requireProgress() }
        case .final:
            let isDone = finalInquiries.isEmpty && isQuiet
            if isDone { phase = .over } else { requireProgress() }
        case .over: break
        }
    }

    private var isQuiet: Bool {
        workload.isSettled && clients.allSatisfy { $0.asked.isEmpty }
    }

    /// Faults stop, and nothing new is made.
    private func beginCalm() {
        phase = .calm
        note("calm")
        workload.isEnding = true
        network.isCalm = true
        store.setDiskFull(false)
        calmUntil = clock.nowMilliseconds + 180_000
    }

    /// The process dies once more; then everything is asked.
    private func beginFinal() {
        phase = .final
        note("final")
        crash()
        finalInquiries = workload.finalInquiries()
        calmUntil = clock.nowMilliseconds + 180_000
    }

    /// Without faults everything is answered in bounded time.
    private func requireProgress() {
        guard clock.nowMilliseconds > calmUntil else { return }
        let waiting = clients.flatMap(\.asked).map(\.inquiry.summary)
        auditor.report(
            "noProgress",
            "three minutes after faults stopped, these are not answered: \(waiting.prefix(8)), and "
                + "\(workload.trials.count) writes are to be tried")
    }
}

/// Who signs for simulations: made once, for it takes a while.
package struct SimulationAuthority: Sendable {
    let authority: TestCertificateAuthority

    /// A new one.
    ///
    /// - Throws: `OpenSSLError` as text when keys or certificates cannot be made.
    package init() throws(Finding) {
        do throws(OpenSSLError) {
            authority = try Mint.makeAuthority()
        } catch {
            throw Finding(rule: "authority", detail: "\(error)")
        }
    }
}
