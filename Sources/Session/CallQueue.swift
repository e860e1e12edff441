/// Requests of one connection that are not answered at once, and why.
///
/// | kind | waits for | ends by |
/// | --- | --- | --- |
/// | ready | the transport to take it | `takeReady`; the answer comes back |
/// | deferred | the heavy read before it, and room in the output | becoming ready; its deadline |
/// | parked | a revision | a retry once it is there; its deadline |
struct CallQueue {
    /// A check that waits for a revision, as the bytes that it will be answered from.
    struct Parked {
        let requestID: UInt64
        let minRevision: UInt64
        let deadlineMilliseconds: Int64
        let body: [UInt8]
    }

    private var ready: [PendingCall] = []
    private var deferred: [PendingCall] = []
    private var parked: [Parked] = []
    private var isReadingHeavily = false

    /// Bytes of the parked frames.
    private(set) var parkedByteCount = 0

    var awaitedRevision: UInt64? { parked.lazy.map(\.minRevision).min() }

    var nextDeadlineMilliseconds: Int64? {
        guard !parked.isEmpty || !deferred.isEmpty else { return nil }
        let parkedFirst = parked.lazy.map(\.deadlineMilliseconds).min() ?? .max
        let deferredFirst = deferred.lazy.map(\.deadlineMilliseconds).min() ?? .max
        return min(parkedFirst, deferredFirst)
    }

    /// Adds a call for another thread; heavy reads one after the other.
    mutating func add(_ call: PendingCall) {
        if call.tag.isHeavyRead { deferred.append(call) } else { ready.append(call) }
    }

    /// Whether `takeReady` gives one.
    var hasReady: Bool { !ready.isEmpty }

    mutating func takeReady() -> PendingCall? { ready.isEmpty ? nil : ready.removeFirst() }

    /// Makes the next heavy read ready, if none is under way and its answer will find room.
    mutating func startHeavyRead(pendingOutputByteCount: Int, below byteCountMax: Int) {
        guard !isReadingHeavily, !deferred.isEmpty, pendingOutputByteCount < byteCountMax else {
            return
        }
        isReadingHeavily = true
        ready.append(deferred.removeFirst())
    }

    /// The heavy read under way is answered.
    mutating func heavyReadEnded() { isReadingHeavily = false }

    mutating func park(_ check: Parked) {
        parked.append(check)
        parkedByteCount += check.body.count
    }

    /// Takes out the parked checks whose revision is there.
    mutating func takeParked(upTo revision: UInt64) -> [Parked] {
        take { $0.minRevision <= revision }
    }

    /// Takes out the parked checks whose deadline has come.
    mutating func takeParked(dueAt nowMilliseconds: Int64) -> [Parked] {
        take { $0.deadlineMilliseconds <= nowMilliseconds }
    }

    /// Takes out the deferred calls whose deadline has come.
    mutating func takeDeferred(dueAt nowMilliseconds: Int64) -> [PendingCall] {
        guard !deferred.isEmpty else { return [] }
        let due = deferred.filter { $0.deadlineMilliseconds <= nowMilliseconds }
        if !due.isEmpty { deferred.removeAll { $0.deadlineMilliseconds <= nowMilliseconds } }
        return due
    }

    private mutating func take(_ isTaken: (Parked) -> Bool) -> [Parked] {
        guard !parked.isEmpty else { return [] }
        let taken = parked.filter(isTaken)
        guard !taken.isEmpty else { return [] }
        parked.removeAll(where: isTaken)
        parkedByteCount -= taken.reduce(0) { $0 + $1.body.count }
        return taken
    }
}
