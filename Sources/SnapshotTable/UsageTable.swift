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
//  32  …    the id, where it has at most 32 bytes
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
    private static let slotByteCount = 64
    private static let inlineByteCountMax = 32
    private static let checksOffset = 8
    private static let unitsOffset = 16
    private static let dayOffset = 24
    private static let scopeOffset = 28
    private static let lengthOffset = 30
    private static let idOffset = 32

    private var slots: UnsafeMutableRawPointer
    private var longIDs: UnsafeMutableRawPointer
    private let mask: Int
    /// How many slots are taken.
    package private(set) var count = 0

    /// An empty table.
    ///
    /// - Parameter slotCount: a power of two; seven eighths of them can be taken. 64 bytes each,
    ///   which the system gives when they are first used.
    package init(slotCount: Int) {
        precondition(slotCount >= 8 && slotCount & (slotCount - 1) == 0)
        mask = slotCount - 1
        unsafe slots = Self.block(slotCount * Self.slotByteCount)
        unsafe longIDs = Self.block(slotCount * Self.idByteCountMax)
        // Checks go all over it: with small pages each would also miss the TLB. A refusal costs
        // time and nothing else.
        unsafe madvise(slots, slotCount * Self.slotByteCount, MADV_HUGEPAGE)
    }

    deinit {
        unsafe munmap(slots, slotCount * Self.slotByteCount)
        unsafe munmap(longIDs, slotCount * Self.idByteCountMax)
    }

    private static func block(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let protection = PROT_READ | PROT_WRITE
        let memory = unsafe mmap(nil, byteCount, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            fatalError("out of memory for \(byteCount) bytes of what is metered")
        }
        return unsafe memory
    }

    /// How many slots there are.
    package var slotCount: Int { mask + 1 }

    /// Whether it is three quarters full: time to empty it.
    package var isCrowded: Bool { count >= slotCount / 4 * 3 }

    /// The slot of a transaction and a day, taken now where there is none.
    ///
    /// - Returns: -1 where the table is full or the id too long: it cannot be counted.
    package func slot(scope: UInt16, transactionID: Span<UInt8>, day: UInt32) -> Int {
        guard transactionID.count <= Self.idByteCountMax else { return -1 }
        let hash = Self.hash(scope: scope, transactionID: transactionID, day: day)
        // The lowest bit of a hash is always 1.
        var index = Int(truncatingIfNeeded: hash &>> 16) & mask
        while true {
            let slot = unsafe slots + index &* Self.slotByteCount
            let found = unsafe slot.load(as: UInt64.self)
            if found == hash, unsafe matches(slot, index, scope, transactionID, day) {
                return index
            }
            if found == 0 { break }
            index = (index &+ 1) & mask
        }
        // With an eighth of the slots free a search ends soon.
        guard count < slotCount / 8 * 7 else { return -1 }
        count &+= 1
        take(index, hash, scope, transactionID, day)
        return index
    }

    /// Counts one check in a slot that `slot` gave; at the largest numbers they stay.
    package func add(units: UInt64, to index: Int) {
        precondition(index >= 0 && index <= mask)
        let slot = unsafe slots + index &* Self.slotByteCount
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
        unsafe swap(&slots, &other.slots)
        unsafe swap(&longIDs, &other.longIDs)
        swap(&count, &other.count)
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
            let slot = unsafe slots + index &* Self.slotByteCount
            guard unsafe slot.load(as: UInt64.self) != 0 else { continue }
            unsafe slot.initializeMemory(as: UInt8.self, repeating: 0, count: Self.idOffset)
        }
        count = 0
    }

    private func entry(at index: Int) -> Entry? {
        let slot = unsafe slots + index &* Self.slotByteCount
        let checks = unsafe slot.load(fromByteOffset: Self.checksOffset, as: UInt64.self)
        guard checks > 0 else { return nil }
        let length = unsafe slot.load(fromByteOffset: Self.lengthOffset, as: UInt16.self)
        let id = unsafe UnsafeRawBufferPointer(
            start: self.id(at: index, byteCount: Int(length)), count: Int(length))
        return Entry(
            scope: unsafe slot.load(fromByteOffset: Self.scopeOffset, as: UInt16.self),
            day: unsafe slot.load(fromByteOffset: Self.dayOffset, as: UInt32.self),
            transactionID: unsafe Array(id), checks: checks,
            units: unsafe slot.load(fromByteOffset: Self.unitsOffset, as: UInt64.self))
    }
}

extension UsageTable {
    @inline(__always)
    private func matches(
        _ slot: UnsafeMutableRawPointer, _ index: Int, _ scope: UInt16, _ id: Span<UInt8>,
        _ day: UInt32
    ) -> Bool {
        guard unsafe slot.load(fromByteOffset: Self.dayOffset, as: UInt32.self) == day,
            unsafe slot.load(fromByteOffset: Self.scopeOffset, as: UInt16.self) == scope,
            Int(unsafe slot.load(fromByteOffset: Self.lengthOffset, as: UInt16.self)) == id.count
        else { return false }
        return unsafe id.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            let known = unsafe self.id(at: index, byteCount: bytes.count)
            return unsafe Self.areEqual(known, start, bytes.count)
        }
    }

    /// Eight bytes at a time: ids are short, and a call of `memcmp` takes longer.
    @inline(__always)
    private static func areEqual(
        _ left: UnsafeMutableRawPointer, _ right: UnsafeRawPointer, _ byteCount: Int
    ) -> Bool {
        var offset = 0
        while offset &+ 8 <= byteCount {
            let word = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let other = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word != other { return false }
            offset &+= 8
        }
        while offset < byteCount {
            let byte = unsafe left.load(fromByteOffset: offset, as: UInt8.self)
            let other = unsafe right.load(fromByteOffset: offset, as: UInt8.self)
            if byte != other { return false }
            offset &+= 1
        }
        return true
    }

    /// Where the id of a slot stands.
    @inline(__always)
    private func id(at index: Int, byteCount: Int) -> UnsafeMutableRawPointer {
        unsafe byteCount <= Self.inlineByteCountMax
            ? slots + (index &* Self.slotByteCount &+ Self.idOffset)
            : longIDs + index &* Self.idByteCountMax
    }

    private func take(
        _ index: Int, _ hash: UInt64, _ scope: UInt16, _ id: Span<UInt8>, _ day: UInt32
    ) {
        let slot = unsafe slots + index &* Self.slotByteCount
        unsafe slot.storeBytes(of: hash, as: UInt64.self)
        unsafe slot.storeBytes(of: 0, toByteOffset: Self.checksOffset, as: UInt64.self)
        unsafe slot.storeBytes(of: 0, toByteOffset: Self.unitsOffset, as: UInt64.self)
        unsafe slot.storeBytes(of: day, toByteOffset: Self.dayOffset, as: UInt32.self)
        unsafe slot.storeBytes(of: scope, toByteOffset: Self.scopeOffset, as: UInt16.self)
        unsafe slot.storeBytes(
            of: UInt16(id.count), toByteOffset: Self.lengthOffset, as: UInt16.self)
        unsafe id.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe self.id(at: index, byteCount: bytes.count)
                .copyMemory(from: start, byteCount: bytes.count)
        }
    }

    /// A multiply-and-fold hash of eight bytes at a time; without a secret, because the ids are of
    /// Apple's making.
    @inline(__always)
    private static func hash(scope: UInt16, transactionID: Span<UInt8>, day: UInt32) -> UInt64 {
        var state = UInt64(day) &<< 16 | UInt64(scope)
        return unsafe transactionID.withUnsafeBytes { bytes in
            var offset = 0
            while offset &+ 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = fold(state ^ word, 0x9E37_79B9_7F4A_7C15)
                offset &+= 8
            }
            var tail = UInt64(truncatingIfNeeded: bytes.count)
            while offset < bytes.count {
                tail = tail &<< 8 | UInt64(unsafe bytes[offset])
                offset &+= 1
            }
            return fold(state ^ tail, 0xD6E8_FEB8_6659_FD93) | 1
        }
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
