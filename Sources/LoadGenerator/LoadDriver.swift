internal import Glibc
internal import OpenSSL
internal import Synchronization
internal import Wire

/// Drives one thread's connections: fills them, waits, takes what comes, counts.
///
/// Generic over the dialogue and specialised in `LoadScript.drive`. All state is this value's, on
/// one thread; connections lie behind a pointer, as they cannot be copied.
@safe struct LoadDriver<Dialogue: LoadDialogue & ~Copyable>: ~Copyable {
    /// How long the generator waits for what is in flight when a run ends, in nanoseconds.
    static var drainNanosecondsMax: UInt64 { 10_000_000_000 }
    /// A poll ends at the latest after this, to see whether somebody stopped the run.
    static var pollNanosecondsMax: UInt64 { 50_000_000 }
    /// Nearer instants of a schedule than this are waited for by polling: a sleep ends 60 to 200 us
    /// late on a virtual machine.
    static var spinNanosecondsMax: UInt64 { 250_000 }
    /// What one read may bring at first; it grows when one answer is larger.
    static var inputByteCount: Int { 256 << 10 }
    static var inputByteCountMax: Int { 64 << 20 }

    let share: ThreadShare
    let plan: LoadPlan
    let board: LoadBoard
    let poller: Poller
    let connections: UnsafeMutablePointer<LoadConnection<Dialogue>>
    var connectionCount = 0
    let tally: UnsafeMutablePointer<LoadTally>
    var input: UnsafeMutablePointer<UInt8>
    var inputCapacity: Int
    /// Requests of one refill; empty between events.
    var scratch = OutputBuffer(capacity: 64 << 10, retainedByteCountMax: 16 << 20)
    /// Where connections with TLS decrypt and encrypt; nil = plain text.
    let tlsBuffers: TLSBuffers?
    var now: UInt64 = 0
    var lastAnswerAt: UInt64 = 0
    var isSending = true
    var inFlightCount = 0
    /// Where an open loop goes on handing out requests.
    var cursor = 0
    var schedule: ArrivalSchedule?
    /// Processor time spent in polls that found nothing, of the measured time, in nanoseconds. Not
    /// wall time: on a busy machine most of that may be another thread's.
    var idlePollNanoseconds: UInt64 = 0
    /// The thread's processor time when it began to do nothing but poll; nil = it does not.
    var idleFrom: UInt64?
    var publishedAnswerCount: UInt64 = 0
    var publishedAt: UInt64 = 0
    var clock: RoundClock
    /// What the counters were when the running round began.
    var roundAnswerCount: UInt64 = 0
    var roundCheckCount: UInt64 = 0
    /// What the clocks were when the warm-up ended.
    var threadTimeAtStart: UInt64 = 0
    var measuredAt: UInt64 = 0
    var outcome = ThreadOutcome()

    /// Runs a share of a plan from the first connection to the last answer.
    static func run(
        _ share: ThreadShare, _ plan: LoadPlan, _ board: LoadBoard,
        _ dialogue: (ConnectionPlace) -> Dialogue
    ) throws(LoadError) -> ThreadOutcome {
        var driver = try LoadDriver(share, plan, board)
        try driver.connect(dialogue)
        try driver.greet()
        guard driver.waitForStart() else {
            driver.outcome.isInterrupted = true
            return driver.outcome
        }
        try driver.measure()
        try driver.drain()
        return driver.finished()
    }

    private init(
        _ share: ThreadShare, _ plan: LoadPlan, _ board: LoadBoard
    ) throws(LoadError) {
        self.share = share
        self.plan = plan
        self.board = board
        poller = try Poller()
        tlsBuffers = plan.tls.map { _ in TLSBuffers() }
        unsafe connections = .allocate(capacity: max(1, share.connections.count))
        unsafe tally = .allocate(capacity: 1)
        unsafe tally.initialize(to: LoadTally())
        inputCapacity = Self.inputByteCount
        unsafe input = .allocate(capacity: Self.inputByteCount)
        clock = RoundClock(plan)
    }

    deinit {
        unsafe connections.deinitialize(count: connectionCount)
        unsafe connections.deallocate()
        unsafe tally.deinitialize(count: 1)
        unsafe tally.deallocate()
        unsafe input.deallocate()
    }

    private mutating func connect(
        _ dialogue: (ConnectionPlace) -> Dialogue
    ) throws(LoadError) {
        for index in share.connections {
            let socket = try LoadSocket.connect(plan.address)
            var channel: TLSChannel?
            if let tls = plan.tls, let tlsBuffers {
                channel = try tls.connect(
                    socket, buffers: tlsBuffers, within: plan.stallNanoseconds)
            }
            let place = ConnectionPlace(
                index: index, count: plan.connectionCount, seed: plan.seed)
            let connection = unsafe LoadConnection(
                socket: socket, channel: channel, dialogue: dialogue(place),
                ledger: AnswerLedger(depth: plan.depth, tally: tally))
            unsafe (connections + connectionCount).initialize(to: connection)
            connectionCount += 1
            try poller.add(socket, token: connectionCount - 1)
        }
    }

    /// Says what is said first, on all connections at once.
    private mutating func greet() throws(LoadError) {
        var waitingCount = 0
        for index in 0..<connectionCount where unsafe !connections[index].isOpen {
            waitingCount += 1
            unsafe connections[index].dialogue.appendGreeting(to: &scratch)
            try flush(index)
        }
        let limit = LoadClock.now + plan.stallNanoseconds
        while waitingCount > 0 {
            guard LoadClock.now < limit else { throw .stalled(nanoseconds: plan.stallNanoseconds) }
            if board.isStopped.load(ordering: .relaxed) { return }
            for index in 0..<(try poller.wait(nanoseconds: Self.pollNanosecondsMax)) {
                let event = poller.event(index)
                if event.isWritable { try flush(event.token) }
                guard event.isReadable else { continue }
                try receive(event.token)
                if unsafe connections[event.token].isOpen { waitingCount -= 1 }
            }
        }
    }

    /// Tells that this thread is ready, and waits for the common start; false = there is none.
    private mutating func waitForStart() -> Bool {
        board.readyCount.add(1, ordering: .releasing)
        while true {
            if board.isStopped.load(ordering: .relaxed) { return false }
            let start = board.startNanoseconds.load(ordering: .acquiring)
            now = LoadClock.now
            if start > 0, now >= start {
                begin(at: start)
                return true
            }
            usleep(start > 0 ? 50 : 500)
        }
    }

    private mutating func begin(at start: UInt64) {
        clock.begin(at: start)
        lastAnswerAt = now
        unsafe tally.pointee.measuredFrom = clock.measuredFrom
        guard case .open(let perSecond, let arrivals) = plan.pace else { return }
        schedule = ArrivalSchedule(
            start: start, perSecond: perSecond / Double(plan.threadCount), arrivals: arrivals,
            phase: Double(share.index) / Double(plan.threadCount),
            seed: plan.seed &+ UInt64(share.index) &* 0x9E37_79B9)
    }

    /// Sends and takes until the last round is over, or somebody stops it.
    private mutating func measure() throws(LoadError) {
        if schedule == nil {
            for index in 0..<connectionCount { try refill(index) }
        }
        while true {
            turnRound()
            guard isSending else { return }
            if schedule != nil { try sendDue() }
            try pollOnce()
        }
    }

    /// Waits for what is in flight; what has not come in time is missing.
    private mutating func drain() throws(LoadError) {
        let limit = now + Self.drainNanosecondsMax
        while now < limit {
            inFlightCount = 0
            for index in 0..<connectionCount {
                inFlightCount += unsafe connections[index].ledger.inFlightCount
            }
            if inFlightCount == 0 { break }
            let count = try poller.wait(nanoseconds: Self.pollNanosecondsMax)
            now = LoadClock.now
            try handle(count)
        }
        outcome.missingCount = UInt64(inFlightCount)
    }
}
