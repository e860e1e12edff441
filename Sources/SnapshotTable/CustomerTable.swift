public import Synchronization

// The hot verdict source: customers' snapshots in memory, found by the bytes of their names, within
// a bound.
//
// Readers are event loops: they take no lock, allocate nothing and count no references. A slot is
// one atomic word, half of the hash and the place of an immutable entry; a change publishes a new
// entry in one store. What it replaced stays where it is until its segment of memory is emptied,
// and until every reader has left the batch in which it could have seen it (epochs). Writers are
// serialized by a mutex.
//
// **Complete.** While every named customer is in it, a miss is an answer. That holds from the end
// of warming until somebody has to be left out or put out, and then never again. Readers ask
// `isComplete` before they look up; so the first entry is put out only after every batch that may
// have read *true* is over.
//
// **Full.** Then room is made as a clock does it: the segment under the hand is emptied, entries
// that were read since the hand came by last are kept (copied, and their mark taken away), at most
// half of it, the rest goes. Readers mark an entry when it is not marked yet, so a hot one is
// written to once per turn of the hand. Before that, room is sought where entries were replaced.
//
// **Exact.** A miss reads the store and may then offer what it read. A commit writes the store
// first and publishes then. Let s be `changeCount` before the store is read:
//
//   commit published before s was read    the read came after the write: it saw it
//   commit publishes after s, before the   the stripe of the name says a count above s: the offer
//   offer                                  is refused, whether the commit found the customer in
//                                          the table or not
//   commit publishes after the offer       it replaces the offered entry, as any other
//
// The counts are kept per stripe of hashes, not per name: a refusal without need costs one more
// read of the store. Publishing, counting and offering all hold the mutex, so the three cases are
// all there are. Offers only try to take it.

/// A reader's place in the table's epochs; each event loop owns one and uses it on its thread only.
@usableFromInline package struct ReaderSlot: Sendable, Hashable {
    @usableFromInline let index: Int
}

/// Snapshots by scope and customer name; see the comment above.
///
/// Thread safety: everything shared is an `Atomic` or guarded by `writer`; entries are immutable
/// once published but for their mark, and their memory is used again only when no reader can hold
/// them.
@safe @usableFromInline package final class CustomerTable: @unchecked Sendable {
    /// A block that readers may still look at.
    enum Retired {
        case slots(UInt64, epoch: UInt64)
        case large(address: UInt, epoch: UInt64)
    }

    struct Writer {
        var arena: SnapshotArena
        var count = 0
        /// How many slots are in use for entries that were forgotten.
        var emptiedCount = 0
        /// Bytes of slots, the old ones while they are moved included.
        var slotsByteCount = 0
        /// Bytes of snapshots that are too large for a segment.
        var largeByteCount = 0
        var retired: [Retired] = []
        /// How many of the old slots have been moved.
        var movedCount = 0
        /// Whether somebody was left out or put out: from then on a miss is no answer.
        var hasLeftOut = false
        /// The epoch in which it was so for the first time.
        var leftOutEpoch: UInt64 = 0
        /// Whether every reader knows.
        var mayEvict = false
    }

    /// The slots; see `SlotArray.word`.
    @usableFromInline let slots: Atomic<UInt64>
    /// Those before the table grew, while entries are moved; 0: none.
    @usableFromInline let oldSlots = Atomic<UInt64>(0)
    @usableFromInline let arenaBase: UnsafeMutableRawPointer
    @usableFromInline let unitShift: UInt64
    @usableFromInline let readerEpochs: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline let epoch = Atomic<UInt64>(1)
    @usableFromInline let complete = Atomic<Bool>(false)
    @usableFromInline let seed: UInt64
    let readerCount: Int
    let changes = Atomic<UInt64>(0)
    /// The count of the last change in each stripe; `writer`'s.
    let stripes: UnsafeMutablePointer<UInt64>
    let stripeBits: Int
    let writer: Mutex<Writer>
    let byteCountMax: Int
    private let nextReader = Atomic<Int>(0)

    /// Words from one reader's epoch to the next: two cache lines, so that no loop's batch takes
    /// the line of another's.
    @inlinable static var readerStride: Int { 16 }

    /// An empty table.
    ///
    /// - Parameters:
    ///   - customerCount: how many customers to make room for at once; it grows beyond. Takes
    ///     addresses, and memory only as customers come.
    ///   - byteCountMax: bytes of memory that it takes at most, slots and all.
    ///   - readerCount: how many `ReaderSlot`s can be handed out.
    package init(customerCount: Int, byteCountMax: Int, readerCount: Int) {
        precondition(customerCount >= 0 && byteCountMax > 0 && readerCount > 0)
        self.byteCountMax = byteCountMax
        self.readerCount = readerCount
        seed = UInt64.random(in: .min ... .max)
        let wordCount = readerCount * Self.readerStride
        unsafe readerEpochs = .allocate(capacity: wordCount)
        for index in 0..<wordCount {
            unsafe (readerEpochs + index).initialize(to: Atomic(0))
        }
        stripeBits = Self.bits(for: min(max(byteCountMax / 16_384, 64), 65_536))
        unsafe stripes = .allocate(capacity: 1 << stripeBits)
        unsafe stripes.initialize(repeating: 0, count: 1 << stripeBits)
        let arena = SnapshotArena(byteCountMax: byteCountMax)
        unsafe arenaBase = unsafe arena.base
        unitShift = arena.unitShift
        // No more slots than entries of a small size could need, and an eighth of all memory.
        let wanted = min(customerCount, byteCountMax / 128) / 2 * 3
        let most = Self.bits(for: max(64, byteCountMax / 64 + 1)) - 1
        let array = SlotArray(bits: UInt64(max(6, min(Self.bits(for: wanted), most))))
        slots = Atomic(array.word)
        writer = Mutex(Writer(arena: arena, slotsByteCount: array.byteCount))
    }

    deinit {
        let current = SlotArray(slots.load(ordering: .acquiring))
        freeLarge(of: current)
        current.unmap()
        let old = oldSlots.load(ordering: .acquiring)
        if old != 0 {
            freeLarge(of: SlotArray(old))
            SlotArray(old).unmap()
        }
        writer.withLock { writer in
            for retired in writer.retired { Self.release(retired) }
            writer.arena.unmap()
        }
        unsafe stripes.deallocate()
        unsafe readerEpochs.deinitialize(count: readerCount * Self.readerStride)
        unsafe readerEpochs.deallocate()
    }

    /// The least number of bits that count to `count`.
    private static func bits(for count: Int) -> Int {
        count < 2 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount
    }

    /// A place for one more reader.
    ///
    /// - Precondition: at most as many as the table was made for.
    package func makeReader() -> ReaderSlot {
        let index = nextReader.add(1, ordering: .relaxed).oldValue
        precondition(index < readerCount, "the table was made for \(readerCount) readers")
        return ReaderSlot(index: index)
    }

    /// How many customers are in it and how many bytes of memory it takes. Any thread.
    package var usage: (customers: Int, bytes: Int) {
        writer.withLock { ($0.count, byteCount($0)) }
    }

    /// Bytes of memory, all but a few fixed kilobytes.
    func byteCount(_ writer: borrowing Writer) -> Int {
        otherByteCount(writer) + writer.arena.backedByteCount
    }

    /// Bytes of all that is not in segments.
    func otherByteCount(_ writer: borrowing Writer) -> Int {
        writer.slotsByteCount + writer.largeByteCount + 8 << stripeBits
    }
}
