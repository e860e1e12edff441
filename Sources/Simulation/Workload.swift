internal import TestSupport

/// Makes what clients do: Apple's notifications about a changing population, in any order and as
/// often as it likes, uploads and links of the app, and questions.
final class Workload {
    /// A write that is to be tried.
    struct Trial {
        var write: Int
        /// Simulated ms.
        var notBefore: Int64
        /// Only when nothing of this connection is under way any more.
        var afterConnection: Int?
    }

    let plan: SimulationPlan
    let clock: SimulatedClock
    let auditor: Auditor
    var generator: SeededGenerator
    var population: Population
    /// What Apple's clock is ahead of the start: days that passed at once.
    var appleOffset: Int64 = 0
    /// No new writes are made any more.
    var isEnding = false
    private(set) var trials: [Trial] = []
    private var notificationCount = 0
    /// What can happen besides questions.
    private let events: [OperationKind]
    /// What waits behind the first of each lane; the first is being tried.
    private var lanes: [Int: [Int]] = [:]
    /// What was said last in order: the household of each person.
    var saidHouseholds: [Int: Int] = [:]
    /// Links that were made before.
    var saidLinks: Set<SimulatedName> = []
    /// People whose account is linked, as they were told.
    private(set) var linkedPeople: Set<Int> = []

    init(_ plan: SimulationPlan, clock: SimulatedClock, auditor: Auditor) {
        self.plan = plan
        self.clock = clock
        self.auditor = auditor
        generator = SeededGenerator(seed: plan.seed ^ 0x3030_1010_7070)
        population = Population(familyCount: plan.familyCount, &generator)
        events = OperationKind.allCases.filter { plan.operations.contains($0) && !$0.isQuestion }
    }

    /// What Apple's clock says, in ms since 1970.
    var appleNow: Int64 { SimulatedClock.beginning + clock.nowMilliseconds + appleOffset }

    func allows(_ operation: OperationKind) -> Bool { plan.operations.contains(operation) }

    // MARK: Trials

    /// Adds a write, to be tried from a random moment on.
    func submit(
        _ content: SimulatedWrite.Content, family: Int, lane: Int? = nil, isRepetition: Bool = false
    ) {
        let index = auditor.writes.count
        auditor.add(
            SimulatedWrite(
                index: index, family: family, content: content, lane: lane,
                isRepetition: isRepetition))
        if let lane {
            lanes[lane, default: []].append(index)
            guard lanes[lane]?.count == 1 else { return }
        }
        enqueue(index, after: delay())
    }

    private func enqueue(_ index: Int, after milliseconds: Int64, afterConnection: Int? = nil) {
        trials.append(
            Trial(
                write: index, notBefore: clock.nowMilliseconds + milliseconds,
                afterConnection: afterConnection))
    }

    /// Most come at once, some late.
    private func delay() -> Int64 {
        generator.oneIn(4) ? Int64(generator.number(0...5_000)) : Int64(generator.number(0...20))
    }

    /// Tries again what was answered before.
    func resend() {
        guard !auditor.writes.isEmpty else { return }
        let index = generator.number(0...auditor.writes.count - 1)
        guard case .notification = auditor.writes[index].write.content else { return }
        enqueue(index, after: delay())
    }

    /// The next write to try, if one is due; `isGone` says whether a connection is no more.
    func takeTrial(_ isGone: (Int) -> Bool) -> Int? {
        let now = clock.nowMilliseconds
        let found = trials.firstIndex { trial in
            trial.notBefore <= now && trial.afterConnection.map(isGone) != false
        }
        return found.map { trials.remove(at: $0).write }
    }

    /// What became of an attempt: answered, or to be tried again.
    func ended(_ index: Int, isAnswered: Bool, isFinal: Bool, connection: Int?) {
        let write = auditor.writes[index].write
        if !isAnswered, !isFinal {
            // Sent again by somebody else meanwhile: once is enough.
            if auditor.writes[index].isAnswered { return }
            let pause = Int64(generator.number(5...400))
            return enqueue(
                index, after: pause, afterConnection: write.lane == nil ? nil : connection)
        }
        if isAnswered, case .link(let person, .account) = write.content {
            linkedPeople.insert(person)
        }
        guard let lane = write.lane, lanes[lane]?.first == index else { return }
        lanes[lane]?.removeFirst()
        if let next = lanes[lane]?.first { enqueue(next, after: 0) }
    }

    /// Whether every write has been answered or refused for good.
    var isSettled: Bool { trials.isEmpty }

    /// A notification about a copy.
    func notify(
        _ type: String, _ copy: TransactionCopy, renewal: RenewalCopy? = nil, status: Int64? = nil
    ) {
        notificationCount += 1
        let fact = NotificationFact(
            number: notificationCount, type: type, copy: copy, renewal: renewal, status: status,
            signed: population.sign(at: appleNow))
        submit(.notification(fact), family: Population.family(of: copy.person))
        if allows(.resend), generator.oneIn(10) {
            enqueue(auditor.writes.count - 1, after: delay())
        }
    }

    // MARK: Making something happen

    /// Something happens to somebody; nothing where the dice ask for what cannot be.
    func act() {
        switch generator.pick(events) {
        case .purchase: purchase()
        case .renewal: renew()
        case .grace: failToRenew()
        case .upgrade: upgrade()
        case .share: share()
        case .refund: refund(type: generator.pick([nil, "REFUND_FULL"]))
        case .proratedRefund: refund(type: "REFUND_PRORATED")
        case .reversal: reverse()
        case .datedRevoke: revoke(isDated: true)
        case .datelessRevoke: revoke(isDated: false)
        case .rejoin: rejoin()
        case .staleCopy: uploadStale()
        case .resend: resend()
        case .upload: upload()
        case .link: link()
        case .household: joinHousehold()
        case .transfer: transfer()
        case .rebuild: rebuild()
        default: break
        }
    }
}
