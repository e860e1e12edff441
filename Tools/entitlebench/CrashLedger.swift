internal import Synchronization
internal import ToolSupport

/// What a server has to know after a crash: what was handed in, and what of that was answered.
///
/// Kept outside the server's data, in memory and in a journal:
///
/// ```
/// sent EVENT            before an event is handed in
/// done EVENT REVISION   when it was answered
/// linking CUSTOMER      before a name is given
/// linked CUSTOMER REVISION
/// ```
///
/// Any thread.
final class CrashLedger: Sendable {
    /// What happened to one customer.
    struct Entry: Hashable, Sendable {
        /// Rounds of his events that were handed in.
        var sent: Set<Int> = []
        /// Those that were answered.
        var done: Set<Int> = []
        /// Whether a name was handed in, and answered.
        var isLinkSent = false
        var isLinkDone = false
        /// Whether something happened since `takeTouched`.
        var isTouched = false

        fileprivate mutating func send(_ round: Int) {
            sent.insert(round)
            isTouched = true
        }
    }

    private struct State {
        var nextEvent = 0
        var revision: UInt64 = 0
        var acknowledgedCount = 0
        var entries: [Int: Entry] = [:]

        mutating func acknowledge(_ revision: UInt64) {
            self.revision = max(self.revision, revision)
            acknowledgedCount += 1
        }
    }

    /// Whose events they are.
    let events: WriteEvents
    private let state = Mutex(State())
    private let journal: Journal

    /// An empty one, whose journal is at `path`.
    ///
    /// - Throws: `CommandFailure` where the journal cannot be made.
    init(_ events: WriteEvents, journal path: String) throws(CommandFailure) {
        self.events = events
        journal = try Journal(path)
    }

    /// The greatest revision that was answered.
    var revision: UInt64 { state.withLock { $0.revision } }
    /// How many writes were answered.
    var acknowledgedCount: Int { state.withLock { $0.acknowledgedCount } }
    /// Everything, by customer.
    var entries: [Int: Entry] { state.withLock { $0.entries } }

    /// The next event, which is about to be handed in.
    func nextEvent() -> Int {
        let event = state.withLock { state in
            let event = state.nextEvent
            state.nextEvent += 1
            state.entries[events.customer(of: event), default: Entry()].send(
                events.round(of: event))
            return event
        }
        journal.add("sent \(event)")
        return event
    }

    /// An event was answered.
    func acknowledge(_ event: Int, revision: UInt64) {
        state.withLock { state in
            state.acknowledge(revision)
            state.entries[events.customer(of: event)]?.done.insert(events.round(of: event))
        }
        journal.add("done \(event) \(revision)")
    }

    /// A name is about to be given to a customer.
    func beginLink(of customer: Int) {
        state.withLock { state in
            state.entries[customer, default: Entry()].isLinkSent = true
            state.entries[customer]?.isTouched = true
        }
        journal.add("linking \(customer)")
    }

    /// The name was given.
    func acknowledgeLink(of customer: Int, revision: UInt64) {
        state.withLock { state in
            state.acknowledge(revision)
            state.entries[customer]?.isLinkDone = true
        }
        journal.add("linked \(customer) \(revision)")
    }

    /// A customer of whom something was answered; nil before that.
    func someCustomer(_ random: UInt64) -> Int? {
        state.withLock { state in
            guard state.nextEvent > 0 else { return nil }
            let event = Int(random % UInt64(min(state.nextEvent, events.plan.customerCount)))
            let customer = events.customer(of: event)
            return state.entries[customer]?.done.isEmpty == false ? customer : nil
        }
    }

    /// To whom something happened since the last call.
    func takeTouched() -> [Int] {
        state.withLock { state in
            let touched = state.entries.filter(\.value.isTouched).keys.sorted()
            for customer in touched { state.entries[customer]?.isTouched = false }
            return touched
        }
    }
}
