import Glibc

// The memory of entries: one reserved range of addresses on huge pages, cut into segments that are
// filled from their start. An entry never moves within its segment and is never freed by itself: a
// segment goes as a whole, once what is still wanted of it has been copied out. So memory is
// counted to the byte, entries of any size share it, nothing is lost to size classes but the
// rounding to a unit, and what readers may still see is kept by one epoch per segment.

/// Where entries lie, and which segments can be filled, emptied and used again.
///
/// The writer's alone: not safe from several threads. Offsets are in bytes from `base`.
@safe struct SnapshotArena {
    private enum State: UInt8 {
        /// No memory behind it.
        case vacant
        /// Memory behind it, nothing in it.
        case free
        /// The one that is being filled.
        case open
        /// Full.
        case sealed
        /// Emptied; readers may still look at it.
        case retired
    }

    /// Segments that only cleaning may take, so that it can always copy out what it keeps.
    static let reserveCount = 2

    /// The first byte of all segments.
    let base: UnsafeMutableRawPointer
    /// Bytes of one segment.
    let segmentByteCount: Int
    /// log2 of the bytes that every size and offset is a multiple of.
    let unitShift: UInt64
    private let mappedByteCount: Int
    private let mapping: UnsafeMutableRawPointer
    private var states: [State]
    /// How many bytes of each segment are taken, from its start on.
    private(set) var fill: [Int]
    /// How many of them are of entries that are still in the table.
    private(set) var live: [Int]
    /// Bytes of all entries in the table.
    private(set) var liveByteCount = 0
    /// Bytes of what was in the table once, in segments that are not emptied yet.
    private var deadByteCount = 0
    /// How many segments have memory behind them.
    private(set) var backedCount = 0
    private var free: [Int] = []
    private var vacant: [Int] = []
    /// Segments from here on were never used.
    private var unusedFrom = 0
    private var retired: [(segment: Int, epoch: UInt64)] = []
    private var open: Int?
    /// Full segments in the order in which they became so, from `hand` on: the clock. One that was
    /// emptied out of turn is passed by.
    private var order: [(segment: Int, round: Int)] = []
    private var hand = 0
    /// How many times each segment was filled.
    private var rounds: [Int]

    /// An arena of at most `byteCountMax` bytes; takes addresses, no memory.
    init(byteCountMax: Int) {
        var segment = 256 << 10
        // Not less than a page: memory is given back by the page.
        while segment > 4_096, segment * 64 > byteCountMax { segment /= 2 }
        segmentByteCount = segment
        var shift: UInt64 = 4
        // Offsets in slots have 32 bits.
        while byteCountMax >> Int(shift) >= Int(UInt32.max) { shift += 1 }
        unitShift = shift
        let count = max(1, byteCountMax / segment)
        states = Array(repeating: .vacant, count: count)
        fill = Array(repeating: 0, count: count)
        live = Array(repeating: 0, count: count)
        rounds = Array(repeating: 0, count: count)
        let alignment = 2 << 20
        mappedByteCount = count * segment + alignment
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = unsafe mmap(nil, mappedByteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            fatalError("no addresses for a table of \(mappedByteCount) bytes")
        }
        unsafe mapping = unsafe memory
        unsafe base = unsafe memory.alignedUp(toMultipleOf: alignment)
        // A look-up at random costs a walk of the page table less; a refusal is harmless.
        unsafe madvise(base, count * segment, MADV_HUGEPAGE)
    }

    /// Gives all memory back. Nobody reads any more.
    func unmap() { unsafe munmap(mapping, mappedByteCount) }

    /// Bytes of memory behind segments.
    var backedByteCount: Int { backedCount * segmentByteCount }

    /// The size that an entry of `byteCount` bytes takes.
    func rounded(_ byteCount: Int) -> Int {
        let unit = 1 << Int(unitShift)
        return (byteCount + unit - 1) & ~(unit - 1)
    }

    /// Where the entries of a segment begin: the offsets 0 and 1 in slots mean no entry.
    func start(of segment: Int) -> Int {
        segment * segmentByteCount + (segment == 0 ? 2 << Int(unitShift) : 0)
    }

    /// The segment of an offset.
    func segment(of offset: Int) -> Int { offset / segmentByteCount }

    /// How many segments could be taken, where all may have `byteLimit` bytes behind them.
    func availableCount(within byteLimit: Int) -> Int {
        let more = min(states.count, byteLimit / segmentByteCount) - backedCount
        return free.count + max(0, more)
    }
}

// MARK: - Taking and giving back

extension SnapshotArena {
    /// Room for an entry of `byteCount` bytes, which is rounded already; nil when none is left
    /// after the last `reserve` segments.
    mutating func allocate(_ byteCount: Int, reserve: Int, within byteLimit: Int) -> Int? {
        if let segment = open, fill[segment] + byteCount <= segmentByteCount {
            return take(byteCount, of: segment)
        }
        guard byteCount <= segmentByteCount - (2 << Int(unitShift)),
            availableCount(within: byteLimit) > reserve
        else { return nil }
        if let segment = open { seal(segment) }
        let segment = takeSegment()
        states[segment] = .open
        fill[segment] = start(of: segment) - segment * segmentByteCount
        live[segment] = 0
        open = segment
        return take(byteCount, of: segment)
    }

    private mutating func seal(_ segment: Int) {
        states[segment] = .sealed
        rounds[segment] += 1
        if order.count > 2 * states.count {
            order = order[hand...].filter(isCurrent)
            hand = 0
        }
        order.append((segment: segment, round: rounds[segment]))
    }

    private mutating func take(_ byteCount: Int, of segment: Int) -> Int {
        let offset = segment * segmentByteCount + fill[segment]
        fill[segment] += byteCount
        live[segment] += byteCount
        liveByteCount += byteCount
        return offset
    }

    private mutating func takeSegment() -> Int {
        if let segment = free.popLast() { return segment }
        backedCount += 1
        if let segment = vacant.popLast() { return segment }
        unusedFrom += 1
        return unusedFrom - 1
    }

    /// Notes that the entry at `offset` is in the table no more.
    mutating func drop(_ offset: Int, byteCount: Int) {
        live[segment(of: offset)] -= byteCount
        liveByteCount -= byteCount
        deadByteCount += byteCount
    }

    /// Notes that nothing in `segment` is in the table any more, from `epoch` on.
    mutating func retire(_ segment: Int, epoch: UInt64) {
        precondition(live[segment] == 0 && states[segment] == .sealed, "it is still in use")
        states[segment] = .retired
        deadByteCount -= segment * segmentByteCount + fill[segment] - start(of: segment)
        retired.append((segment: segment, epoch: epoch))
    }

    /// Whether segments wait for readers.
    var hasRetired: Bool { !retired.isEmpty }

    /// Makes usable what no reader can look at: all that was retired before `oldest`.
    mutating func reclaim(before oldest: UInt64, within byteLimit: Int) {
        let count = retired.firstIndex { $0.epoch >= oldest } ?? retired.count
        guard count > 0 else { return }
        for entry in retired.prefix(count) {
            states[entry.segment] = .free
            fill[entry.segment] = 0
            free.append(entry.segment)
        }
        retired.removeFirst(count)
        shrink(to: byteLimit)
    }

    /// Gives memory of free segments back to the system, down to `byteLimit` where that is enough.
    mutating func shrink(to byteLimit: Int) {
        while backedByteCount > byteLimit, let segment = free.popLast() {
            unsafe madvise(
                base + segment * segmentByteCount, segmentByteCount, MADV_DONTNEED)
            states[segment] = .vacant
            vacant.append(segment)
            backedCount -= 1
        }
    }
}

// MARK: - Which segment to empty

extension SnapshotArena {
    /// The full segment with the most that nobody wants; nil where that is less than an eighth.
    func emptiest() -> Int? {
        // Looking at all segments costs 5 us per gigabyte; not where it cannot pay.
        guard deadByteCount > 0, deadByteCount * 8 >= backedByteCount else { return nil }
        var best: Int?
        var most = segmentByteCount / 8 - 1
        for segment in 0..<unusedFrom where states[segment] == .sealed {
            let dead = segmentByteCount - live[segment]
            if dead > most {
                most = dead
                best = segment
            }
        }
        return best
    }

    /// The segment that has been full for the longest; nil without one.
    mutating func nextForEviction() -> Int? {
        while hand < order.count {
            let entry = order[hand]
            hand += 1
            if isCurrent(entry) { return entry.segment }
        }
        return nil
    }

    private func isCurrent(_ entry: (segment: Int, round: Int)) -> Bool {
        states[entry.segment] == .sealed && rounds[entry.segment] == entry.round
    }
}
