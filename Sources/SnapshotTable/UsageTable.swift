import CProcessor
import Entitlements
import Glibc

// What loops count of grants: checks and units by transaction and day, in a fixed block of memory.
//
// Slots of 64 bytes, one cache line, which is all that a check of a usual id touches:
//   0  u64  hash of scope, day and id, never 0 in a slot that is taken
//   8  u64  checks; 0 in a slot that was found and not counted in
//  16  u64  units
//  24  u32  day
//  28  u16  scope
//  30  u16  length of the id
//  32  …    the id, where it has at most 32 bytes, and zeros behind it
// A longer id stands in a second block, at 128 bytes times the slot's place.

/// Checks and units by transaction and day: open addressing, no growth, no allocation after init.
///
/// Thread safety: one thread owns it at a time. It changes hands through a queue with a lock, which
/// orders what the two threads do; nothing in it is shared otherwise.
@safe package final class UsageTable: @unchecked Sendable {
    /// What is counted for one transaction on one day.
    package struct Entry: Hashable, Sendable {
        package var scope: UInt16
        /// Days since 1970-01-01, UTC.
        package var day: UInt32
        package var transactionID: [UInt8]
        package var checks: UInt64
        package var units: UInt64
    }

    /// Ids are at most so long, by the contract on the wire.
    package static let idByteCountMax = 128
    /// Ids that can be noted are at most so long; Apple's have less than 20 bytes.
    package static let notedIDByteCountMax = 32
    /// So many checks can be noted at a time.
    package static let notedCountMax = 64

    private static let slotByteCount = 64
    private static let hugePageByteCount = 2 << 20
    private static let checksOffset = 8
    private static let unitsOffset = 16
    private static let keyOffset = 24
    private static let dayOffset = 24
    private static let scopeOffset = 28
    private static let lengthOffset = 30
    private static let idOffset = 32

    /// What is exchanged between tables.
    @safe private struct Contents {
        var slots: UnsafeMutableRawPointer
        var longIDs: UnsafeMutableRawPointer
        /// How many slots are taken.
        var count = 0
    }

    /// A check that is not counted yet: what its slot is found by.
    private struct Note: BitwiseCopyable {
        var hash: UInt64
        var units: UInt64
        var key: UInt64
        var id: ShortID
    }

    /// An id of at most 32 bytes, as words; zeros behind it.
    private struct ShortID: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    }

    // Behind pointers, because each access of a class's variable is guarded against overlaps by a
    // call.
    private let contents: UnsafeMutablePointer<Contents>
    private let notes: UnsafeMutablePointer<Note>
    private let notedCount: UnsafeMutablePointer<Int>
    private let mask: Int

    /// How many slots are taken.
    package var count: Int { unsafe contents.pointee.count }

    /// An empty table.
    ///
    /// - Parameter slotCount: a power of two; seven eighths of them can be taken. 64 bytes each,
    ///   which the system gives when they are first used.
    package init(slotCount: Int) {
        precondition(slotCount >= 8 && slotCount & (slotCount - 1) == 0)
        mask = slotCount - 1
        unsafe contents = .allocate(capacity: 1)
        unsafe contents.initialize(
            to: Contents(
                slots: Self.alignedBlock(slotCount * Self.slotByteCount),
                longIDs: Self.block(slotCount * Self.idByteCountMax)))
        unsafe notes = .allocate(capacity: Self.notedCountMax)
        unsafe notedCount = .allocate(capacity: 1)
        unsafe notedCount.initialize(to: 0)
    }

    deinit {
        unsafe munmap(contents.pointee.slots, slotCount * Self.slotByteCount)
        unsafe munmap(contents.pointee.longIDs, slotCount * Self.idByteCountMax)
        unsafe contents.deallocate()
        unsafe notes.deallocate()
        unsafe notedCount.deallocate()
    }

    private static func block(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let protection = PROT_READ | PROT_WRITE
        let memory = unsafe mmap(nil, byteCount, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            fatalError("out of memory for \(byteCount) bytes of what is metered")
        }
        return unsafe memory
    }

    /// A block that huge pages can back from its first to its last byte: checks go all over it, and
    /// with small pages each would also miss the TLB. A refusal costs time and nothing else.
    private static func alignedBlock(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard byteCount >= hugePageByteCount else { return unsafe block(byteCount) }
        let memory = unsafe block(byteCount + hugePageByteCount)
        let start = unsafe memory.alignedUp(toMultipleOf: hugePageByteCount)
        let before = unsafe start - memory
        if before > 0 { unsafe munmap(memory, before) }
        unsafe munmap(start + byteCount, hugePageByteCount - before)
        unsafe madvise(start, byteCount, MADV_HUGEPAGE)
        return unsafe start
    }

    /// How many slots there are.
    package var slotCount: Int { mask + 1 }

    /// Whether it is three quarters full: time to empty it.
    package var isCrowded: Bool { count >= slotCount / 4 * 3 }

    /// The slot of a transaction and a day, taken now where there is none.
    ///
    /// - Returns: -1 where the table is full or the id too long: it cannot be counted.
    package func slot(scope: UInt16, transactionID: Span<UInt8>, day: UInt32) -> Int {
        let length = transactionID.count
        guard length <= Self.idByteCountMax else { return -1 }
        let key = Self.key(scope: scope, day: day, length: length)
        if length <= Self.notedIDByteCountMax {
            let id = Self.shortID(transactionID)
            return slot(of: Note(hash: Self.hash(key, id, length), units: 0, key: key, id: id))
        }
        return slotOfLongID(transactionID, key)
    }

    /// Counts one check in a slot that `slot` gave; at the largest numbers they stay.
    package func add(units: UInt64, to index: Int) {
        precondition(index >= 0 && index <= mask)
        let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
        let checks = unsafe slot.load(fromByteOffset: Self.checksOffset, as: UInt64.self)
        let (moreChecks, checksOverflow) = checks.addingReportingOverflow(1)
        unsafe slot.storeBytes(
            of: checksOverflow ? .max : moreChecks, toByteOffset: Self.checksOffset,
            as: UInt64.self)
        guard units > 0 else { return }
        let known = unsafe slot.load(fromByteOffset: Self.unitsOffset, as: UInt64.self)
        let (moreUnits, unitsOverflow) = known.addingReportingOverflow(units)
        unsafe slot.storeBytes(
            of: unitsOverflow ? .max : moreUnits, toByteOffset: Self.unitsOffset, as: UInt64.self)
    }

    /// Takes the contents of `other`, of the same size, and gives it its own.
    package func exchange(with other: UsageTable) {
        precondition(mask == other.mask, "tables of different sizes cannot be exchanged")
        unsafe swap(&contents.pointee, &other.contents.pointee)
    }

    /// What was counted, in no order, in groups of at most `groupCountMax`.
    package func forEachGroup(of groupCountMax: Int, _ body: ([Entry]) -> Void) {
        precondition(groupCountMax > 0)
        var group: [Entry] = []
        group.reserveCapacity(min(groupCountMax, count))
        for index in 0...mask {
            guard let entry = entry(at: index) else { continue }
            group.append(entry)
            guard group.count == groupCountMax else { continue }
            body(group)
            group.removeAll(keepingCapacity: true)
        }
        if !group.isEmpty { body(group) }
    }

    /// Forgets everything.
    package func removeAll() {
        for index in 0...mask {
            let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
            guard unsafe slot.load(as: UInt64.self) != 0 else { continue }
            unsafe slot.initializeMemory(as: UInt8.self, repeating: 0, count: Self.idOffset)
        }
        unsafe contents.pointee.count = 0
    }

    private func entry(at index: Int) -> Entry? {
        let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
        let checks = unsafe slot.load(fromByteOffset: Self.checksOffset, as: UInt64.self)
        guard checks > 0 else { return nil }
        let length = unsafe slot.load(fromByteOffset: Self.lengthOffset, as: UInt16.self)
        let start =
            unsafe Int(length) <= Self.notedIDByteCountMax
            ? slot + Self.idOffset : longID(at: index)
        let id = unsafe UnsafeRawBufferPointer(start: start, count: Int(length))
        return Entry(
            scope: unsafe slot.load(fromByteOffset: Self.scopeOffset, as: UInt16.self),
            day: unsafe slot.load(fromByteOffset: Self.dayOffset, as: UInt32.self),
            transactionID: unsafe Array(id), checks: checks,
            units: unsafe slot.load(fromByteOffset: Self.unitsOffset, as: UInt64.self))
    }
}

// MARK: - Noting

extension UsageTable {
    /// Notes a check, to be counted with others, and starts to bring its slot close: one after the
    /// other they would each wait for it.
    ///
    /// - Returns: false where the id is too long for that, or `notedCountMax` are noted already.
    @discardableResult
    @inline(__always)
    package func note(
        scope: UInt16, transactionID: Span<UInt8>, day: UInt32, units: UInt64
    ) -> Bool {
        let length = transactionID.count
        let index = unsafe notedCount.pointee
        guard length <= Self.notedIDByteCountMax, index < Self.notedCountMax else { return false }
        let key = Self.key(scope: scope, day: day, length: length)
        let id = Self.shortID(transactionID)
        let hash = Self.hash(key, id, length)
        unsafe notes[index] = Note(hash: hash, units: units, key: key, id: id)
        unsafe notedCount.pointee = index &+ 1
        unsafe cprocessor_prefetch_for_write(
            contents.pointee.slots + place(of: hash) &* Self.slotByteCount)
        return true
    }

    /// Notes those of the questions at `range` that were granted for the present.
    ///
    /// - Precondition: there is room for as many notes.
    package func note(
        _ questions: Span<ProductQuestion>, _ verdicts: Span<ProductVerdict>, _ range: Range<Int>,
        day: UInt32
    ) {
        for index in range {
            let verdict = verdicts[index]
            guard verdict.isAnswered, verdict.reason.isGranted, questions[index].instant == 0
            else { continue }
            let isNoted = note(
                scope: UInt16(truncatingIfNeeded: questions[index].world),
                transactionID: verdict.transactionID, day: day, units: questions[index].units)
            precondition(isNoted, "a verdict's id is short, and a run fits into the notes")
        }
    }

    /// Counts what was noted, in order.
    ///
    /// - Returns: how many checks could not be counted, the table being full.
    package func countNoted() -> Int {
        var droppedCount = 0
        for index in 0..<(unsafe notedCount.pointee) {
            let found = unsafe slot(of: notes[index])
            if found >= 0 {
                add(units: unsafe notes[index].units, to: found)
            } else {
                droppedCount &+= 1
            }
        }
        unsafe notedCount.pointee = 0
        return droppedCount
    }

    /// Forgets what was noted.
    package func forgetNoted() { unsafe notedCount.pointee = 0 }

    /// Gives the slot of each noted check, -1 where there is none, and its units, in order; counts
    /// none.
    package func resolveNoted(into resolved: inout [(slot: Int, units: UInt64)]) {
        for index in 0..<(unsafe notedCount.pointee) {
            unsafe resolved.append((slot(of: notes[index]), notes[index].units))
        }
        unsafe notedCount.pointee = 0
    }
}

// MARK: - Searching

extension UsageTable {
    @inline(__always)
    private func place(of hash: UInt64) -> Int {
        // The lowest bit of a hash is always 1.
        Int(truncatingIfNeeded: hash &>> 16) & mask
    }

    @inline(__always)
    private func slot(of note: Note) -> Int {
        var index = place(of: note.hash)
        while true {
            let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
            let found = unsafe slot.load(as: UInt64.self)
            if found == note.hash, unsafe Self.matches(slot, note.key, note.id) { return index }
            if found == 0 { break }
            index = (index &+ 1) & mask
        }
        guard take(index, note.hash, note.key) else { return -1 }
        let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
        unsafe slot.storeBytes(of: note.id, toByteOffset: Self.idOffset, as: ShortID.self)
        return index
    }

    private func slotOfLongID(_ id: Span<UInt8>, _ key: UInt64) -> Int {
        let hash = Self.hash(key, id)
        var index = place(of: hash)
        while true {
            let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
            let found = unsafe slot.load(as: UInt64.self)
            let foundKey = unsafe slot.load(fromByteOffset: Self.keyOffset, as: UInt64.self)
            if found == hash, foundKey == key {
                let known = unsafe Span<UInt8>(
                    _unsafeStart: longID(at: index).assumingMemoryBound(to: UInt8.self),
                    count: id.count)
                if areEqual(known, id) { return index }
            }
            if found == 0 { break }
            index = (index &+ 1) & mask
        }
        guard take(index, hash, key) else { return -1 }
        unsafe id.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe longID(at: index).copyMemory(from: start, byteCount: bytes.count)
        }
        return index
    }

    private func longID(at index: Int) -> UnsafeMutableRawPointer {
        unsafe contents.pointee.longIDs + index &* Self.idByteCountMax
    }

    /// Takes a free slot, but for its id; false when seven eighths are taken: with an eighth of
    /// them free a search ends soon.
    private func take(_ index: Int, _ hash: UInt64, _ key: UInt64) -> Bool {
        guard count < slotCount / 8 * 7 else { return false }
        unsafe contents.pointee.count &+= 1
        let slot = unsafe contents.pointee.slots + index &* Self.slotByteCount
        unsafe slot.storeBytes(of: hash, as: UInt64.self)
        unsafe slot.storeBytes(of: 0, toByteOffset: Self.checksOffset, as: UInt64.self)
        unsafe slot.storeBytes(of: 0, toByteOffset: Self.unitsOffset, as: UInt64.self)
        unsafe slot.storeBytes(of: key, toByteOffset: Self.keyOffset, as: UInt64.self)
        return true
    }

    /// Day, scope and length, as they stand in a slot.
    @inline(__always)
    private static func key(scope: UInt16, day: UInt32, length: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: length) &<< 48 | UInt64(scope) &<< 32 | UInt64(day)
    }

    @inline(__always)
    private static func matches(
        _ slot: UnsafeMutableRawPointer, _ key: UInt64, _ id: ShortID
    ) -> Bool {
        let known = unsafe slot.load(fromByteOffset: idOffset, as: ShortID.self)
        var difference = unsafe slot.load(fromByteOffset: keyOffset, as: UInt64.self) ^ key
        difference |= known.words.0 ^ id.words.0
        difference |= known.words.1 ^ id.words.1
        difference |= known.words.2 ^ id.words.2
        difference |= known.words.3 ^ id.words.3
        return difference == 0
    }

    @inline(__always)
    private static func shortID(_ id: Span<UInt8>) -> ShortID {
        unsafe id.withUnsafeBytes { bytes in
            unsafe ShortID(
                words: (word(bytes, 0), word(bytes, 8), word(bytes, 16), word(bytes, 24)))
        }
    }

    /// Eight bytes, or what there is of them and zeros behind.
    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        let rest = bytes.count &- offset
        if rest >= 8 {
            return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        guard rest > 0 else { return 0 }
        if offset > 0 {
            let last = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self)
            return last &>> UInt64(8 &* (8 &- rest))
        }
        var word: UInt64 = 0
        for index in 0..<rest { word |= UInt64(unsafe bytes[index]) &<< UInt64(8 &* index) }
        return word
    }

    /// A multiply-and-fold hash of eight bytes at a time; without a secret, because the ids are of
    /// Apple's making.
    @inline(__always)
    private static func hash(_ key: UInt64, _ id: ShortID, _ length: Int) -> UInt64 {
        var state = fold(key ^ id.words.0, 0x9E37_79B9_7F4A_7C15)
        if length > 8 { state = fold(state ^ id.words.1, 0x9E37_79B9_7F4A_7C15) }
        if length > 16 { state = fold(state ^ id.words.2, 0x9E37_79B9_7F4A_7C15) }
        if length > 24 { state = fold(state ^ id.words.3, 0x9E37_79B9_7F4A_7C15) }
        return fold(state, 0xD6E8_FEB8_6659_FD93) | 1
    }

    private static func hash(_ key: UInt64, _ longID: Span<UInt8>) -> UInt64 {
        unsafe longID.withUnsafeBytes { bytes in
            var state = key
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                state = fold(state ^ (unsafe word(bytes, offset)), 0x9E37_79B9_7F4A_7C15)
            }
            return fold(state, 0xD6E8_FEB8_6659_FD93) | 1
        }
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
