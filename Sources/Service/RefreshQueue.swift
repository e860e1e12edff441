import Entitlements
import Storage
import Synchronization

/// Which queued fetches are due: an index in memory over the jobs in the store.
///
/// The store alone is the truth; this is read from it at the start and follows every commit.
/// Finding what is due costs the logarithm of the queue's length. In the store's own order it would
/// cost a scan of all jobs, and with due times in the keys a scan over all that were just deleted.
final class RefreshQueue: Sendable {
    fileprivate struct Entry: Hashable {
        var notBefore: Timestamp
        var isSweep: Bool
    }

    fileprivate struct Place: Comparable {
        let notBefore: Timestamp
        let key: CustomerKey

        static func < (left: Place, right: Place) -> Bool {
            if left.notBefore != right.notBefore { return left.notBefore < right.notBefore }
            if left.key.number != right.key.number { return left.key.number < right.key.number }
            return left.key.scope.value < right.key.scope.value
        }
    }

    /// The places of one scope.
    fileprivate struct Lines {
        /// Somebody waits for what these do; places that are no entry's any more are left in them
        /// until their turn comes.
        var urgent = Heap<Place>()
        /// The sweep's come when nothing else is due.
        var sweeps = Heap<Place>()
    }

    fileprivate struct State {
        var entries: [CustomerKey: Entry] = [:]
        var counts: [ScopeNumber: Int] = [:]
        /// By scope: one that nobody can be asked about must not hide the others.
        var lines: [ScopeNumber: Lines] = [:]
        /// When somebody last asked what is due; nil: not yet.
        var askedAt: Timestamp?
    }

    /// Nobody waits longer after a failure; who is due later than that was queued by a clock that
    /// was set back since.
    private static let longestWait: Int64 = 25 * 3_600_000
    /// A clock that is corrected by less goes on; jobs may come so much late.
    private static let toleratedStep: Int64 = 60_000

    private let state = Mutex(State())

    init() {}

    /// How many jobs are read at a time.
    private static let pageCountMax = 4_096

    /// Reads the jobs of these scopes, page by page: beside what is kept of each job only one page
    /// of records is ever in memory.
    func load(
        _ scopes: [ScopeNumber], from store: some EntitlementReader
    ) throws(StorageError) {
        for scope in scopes {
            var start: [UInt8]?
            repeat {
                let page = try Self.page(of: scope, from: &start, in: store)
                state.withLock { state in
                    for (key, job) in page { state.set(job, of: key) }
                }
            } while start != nil
        }
    }

    /// Some jobs; `start` is where to go on, or nil.
    private static func page(
        of scope: ScopeNumber, from start: inout [UInt8]?, in store: some EntitlementReader
    ) throws(StorageError) -> [(key: CustomerKey, job: RefreshJob)] {
        var page: [(key: CustomerKey, job: RefreshJob)] = []
        var next: [UInt8]?
        let prefix = Key.refreshes(of: scope)
        try store.scan(.refreshes, prefix: prefix, from: start, reversed: false) { key, record in
            guard page.count < pageCountMax else {
                next = key
                return false
            }
            let number = Key.trailingNumber(of: key)
            page.append((CustomerKey(scope: scope, number: number), RefreshJob(stored: record)))
            return true
        }
        start = next
        return page
    }

    /// Follows what a commit wrote; nil: no job any more.
    func apply(_ changes: [CustomerKey: RefreshJob?]) {
        guard !changes.isEmpty else { return }
        state.withLock { state in
            for (key, job) in changes { state.set(job, of: key) }
        }
    }

    /// Whose time has come in a scope, at most `countMax`: oldest first, the sweep's after all
    /// others. And when the next one comes that is not among them.
    ///
    /// When the clock was set back since the last call, all jobs are due at once: what they waited
    /// for was said by the other clock. The budget of requests spreads them.
    func due(
        in scope: ScopeNumber, at now: Timestamp, countMax: Int
    ) -> (keys: [CustomerKey], nextAt: Timestamp?) {
        state.withLock { state in
            let isSetBack =
                state.askedAt.map { now < $0.adding(milliseconds: -Self.toleratedStep) } ?? false
            if isSetBack || state.askedAt == nil {
                state.bringForward(
                    dueAfter: isSetBack ? now : now.adding(milliseconds: Self.longestWait), to: now)
            }
            state.askedAt = now
            guard var lines = state.lines.removeValue(forKey: scope) else { return ([], nil) }
            defer { state.lines[scope] = lines }
            var keys: [CustomerKey] = []
            let urgent = state.take(
                from: &lines.urgent, areSweeps: false, at: now, into: &keys, countMax: countMax)
            let sweeps = state.take(
                from: &lines.sweeps, areSweeps: true, at: now, into: &keys, countMax: countMax)
            return (keys, [urgent, sweeps].compactMap(\.self).min())
        }
    }

    /// Whether the customer waits for a fetch.
    func contains(_ key: CustomerKey) -> Bool {
        state.withLock { $0.entries[key] != nil }
    }

    /// How many wait in a scope.
    func count(of scope: ScopeNumber) -> Int { state.withLock { $0.counts[scope] ?? 0 } }
}

extension RefreshQueue.State {
    mutating func set(_ job: RefreshJob?, of key: CustomerKey) {
        let known = entries[key]
        guard let job else {
            if entries.removeValue(forKey: key) != nil { counts[key.scope, default: 1] -= 1 }
            return
        }
        let entry = RefreshQueue.Entry(
            notBefore: job.notBefore, isSweep: job.trigger == .sweep)
        guard entry != known else { return }
        entries[key] = entry
        if known == nil { counts[key.scope, default: 0] += 1 }
        insert(
            RefreshQueue.Place(notBefore: entry.notBefore, key: key), isSweep: entry.isSweep)
    }

    /// Makes jobs due at `instant` that are due after `limit`.
    mutating func bringForward(dueAfter limit: Timestamp, to instant: Timestamp) {
        for (key, entry) in entries where entry.notBefore > limit {
            entries[key]?.notBefore = instant
            insert(RefreshQueue.Place(notBefore: instant, key: key), isSweep: entry.isSweep)
        }
    }

    private mutating func insert(_ place: RefreshQueue.Place, isSweep: Bool) {
        if isSweep {
            lines[place.key.scope, default: RefreshQueue.Lines()].sweeps.insert(place)
        } else {
            lines[place.key.scope, default: RefreshQueue.Lines()].urgent.insert(place)
        }
    }

    /// Adds the keys of what is due, and leaves all of it where it was; the instant is that of the
    /// first one which is not among them.
    func take(
        from line: inout Heap<RefreshQueue.Place>, areSweeps: Bool, at now: Timestamp,
        into keys: inout [CustomerKey], countMax: Int
    ) -> Timestamp? {
        var taken: [RefreshQueue.Place] = []
        defer { for place in taken { line.insert(place) } }
        while let place = line.first {
            let entry = RefreshQueue.Entry(notBefore: place.notBefore, isSweep: areSweeps)
            let isRepeated = taken.last == place
            guard entries[place.key] == entry, !isRepeated else {
                line.removeFirst()
                continue
            }
            guard place.notBefore <= now, keys.count < countMax else { return place.notBefore }
            line.removeFirst()
            taken.append(place)
            keys.append(place.key)
        }
        return nil
    }
}

/// A binary heap, the least element first.
private struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0, elements[index] < elements[(index - 1) / 2] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        var index = 0
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            var least = index
            if left < elements.count, elements[left] < elements[least] { least = left }
            if right < elements.count, elements[right] < elements[least] { least = right }
            guard least != index else { return }
            elements.swapAt(index, least)
            index = least
        }
    }
}
