internal import LoadGenerator
internal import Synchronization
internal import TestSupport

/// Notifications that are signed before a run, so that the generator does nothing but send them.
///
/// Three signatures and 9 KB each. Should a run need more than there are, they are signed on the
/// spot and counted: then the generator, not the server, may be what was measured.
final class WriteStock: Sendable {
    /// What happens, event by event.
    let events: WriteEvents
    private let signer: SeedSigner
    private let first: Int
    private let bodies: [[UInt8]]
    private let taken = Atomic<Int>(0)

    /// Signs events `first ..< first + count` on so many threads.
    ///
    /// - Throws: what signing throws.
    init(
        _ events: WriteEvents, signer: SeedSigner, from first: Int, count: Int, threadCount: Int
    ) throws {
        self.events = events
        self.signer = signer
        self.first = first
        let shared = Shared(count: count)
        let blockSize = 32
        try SeedThreads.forEach(
            (count + blockSize - 1) / blockSize, threadCount: threadCount
        ) { block in
            let places = block * blockSize..<min(count, (block + 1) * blockSize)
            let signed = try places.map {
                try Self.body(of: first + $0, events, signer)
            }
            shared.store(signed, at: places.lowerBound)
        }
        bodies = shared.bodies
    }

    private final class Shared: Sendable {
        private let storage: Mutex<[[UInt8]]>

        init(count: Int) { storage = Mutex(Array(repeating: [], count: count)) }

        var bodies: [[UInt8]] { storage.withLock { $0 } }

        func store(_ bodies: [[UInt8]], at start: Int) {
            storage.withLock { $0.replaceSubrange(start..<start + bodies.count, with: bodies) }
        }
    }

    private static func body(
        of event: Int, _ events: WriteEvents, _ signer: SeedSigner
    ) throws(RehearsalAuthorityError) -> [UInt8] {
        let transaction = events.transaction(event)
        return try signer.body(
            events.notification(event), transaction, events.renewal(with: transaction))
    }

    /// The next event and its body; any thread.
    ///
    /// - Throws: `RehearsalAuthorityError` where it has to be signed now and cannot be.
    func next() throws(RehearsalAuthorityError) -> (event: Int, body: [UInt8]) {
        let place = taken.add(1, ordering: .relaxed).oldValue
        if place < bodies.count { return (first + place, bodies[place]) }
        return (first + place, try Self.body(of: first + place, events, signer))
    }

    /// How many were taken so far.
    var takenCount: Int { taken.load(ordering: .relaxed) }

    /// How many of those had to be signed during the run.
    var lateCount: Int { max(0, takenCount - bodies.count) }
}

/// What has happened to each customer by the words of the server: the oracle of read-your-writes.
///
/// Any thread: a lock is held for a look-up. Nothing of the server's rules is in it.
final class WriteOracle: Sendable {
    /// The events of one customer.
    private struct Rounds {
        /// How many were sent.
        var sent: Int
        /// How many were acknowledged; those after a gap do not count yet.
        var acknowledged: Int
        /// The revision of the newest acknowledgement.
        var revision: UInt64
        /// Acknowledged before an earlier one was.
        var early: Set<Int> = []
    }

    private struct State {
        var rounds: [Int: Rounds] = [:]
        /// Customers with an acknowledged event, newest last; a ring.
        var recent: [Int] = []
        var recentPosition = 0
    }

    private static let recentCountMax = 1_024

    private let state = Mutex(State())

    /// An oracle of a server to which no event was handed in yet.
    init() {}

    /// The `round`-th event of a customer leaves now.
    func send(_ round: Int, of customer: Int) {
        state.withLock { state in
            let none = Rounds(sent: 0, acknowledged: 0, revision: 0)
            let known = state.rounds[customer, default: none].sent
            state.rounds[customer, default: none].sent = max(known, round + 1)
        }
    }

    /// The server has acknowledged the `round`-th event of a customer with this revision.
    func acknowledge(_ round: Int, of customer: Int, revision: UInt64) {
        state.withLock { state in
            guard var rounds = state.rounds[customer] else { return }
            rounds.early.insert(round)
            while rounds.early.remove(rounds.acknowledged) != nil { rounds.acknowledged += 1 }
            rounds.revision = max(rounds.revision, revision)
            state.rounds[customer] = rounds
            if state.recent.count < Self.recentCountMax {
                state.recent.append(customer)
            } else {
                state.recent[state.recentPosition] = customer
                state.recentPosition = (state.recentPosition + 1) % Self.recentCountMax
            }
        }
    }

    /// How many events of a customer every later answer must show, and the revision of the last.
    func floor(of customer: Int) -> (rounds: Int, revision: UInt64) {
        state.withLock {
            guard let rounds = $0.rounds[customer] else { return (0, 0) }
            return (rounds.acknowledged, rounds.revision)
        }
    }

    /// How many events of a customer an answer can show at most.
    func ceiling(of customer: Int) -> Int {
        state.withLock { $0.rounds[customer]?.sent ?? 0 }
    }

    /// Somebody of whom an event was acknowledged lately; nil while there is nobody.
    func recentCustomer(_ random: UInt64) -> Int? {
        state.withLock {
            $0.recent.isEmpty ? nil : $0.recent[Int(random % UInt64($0.recent.count))]
        }
    }
}
