import Glibc
import Synchronization

// The hot verdict source: every named customer's snapshot in memory, found by the bytes of his
// name.
//
// Readers are event loops: they take no lock, allocate nothing and count no references. A slot is
// one atomic word, 16 bits of the hash and a 48-bit pointer to an immutable entry; a change
// publishes a new entry in one store. What it replaced is freed once every reader has left the
// batch in which it could have seen it (epochs). Writers are serialized by a mutex.

/// A reader's place in the table's epochs; each event loop owns one and uses it on its thread only.
package struct ReaderSlot: Sendable, Hashable {
    let index: Int
}

/// Snapshots by scope and customer name; see the comment above.
///
/// Thread safety: everything shared is an `Atomic` or guarded by `writer`; entries are immutable
/// once published, and freed only when no reader can hold them.
@safe package final class CustomerTable: @unchecked Sendable {
    private struct Retired {
        let epoch: UInt64
        /// The address; a retired block is only ever freed.
        let address: UInt
        let mappedByteCount: Int
    }

    private struct Writer {
        var count = 0
        var usedSlots = 0
        var retired: [Retired] = []
        var byteCount = 0
        /// Whether somebody was left out: from then on a miss is no answer.
        var hasLeftOut = false
        /// Whether a change was left out: a snapshot read before it must not get in after it.
        var refusesWarming = false
    }

    private static let emptySlot: UInt64 = 0
    private static let removedSlot: UInt64 = 1
    private static let pointerMask: UInt64 = (1 << 48) - 1

    /// The header of the slots: one word of mask, then the slots.
    private let slots: Atomic<UInt>
    private let readerEpochs: UnsafeMutablePointer<Atomic<UInt64>>
    private let readerCount: Int
    private let epoch = Atomic<UInt64>(1)
    private let nextReader = Atomic<Int>(0)
    private let complete = Atomic<Bool>(false)
    private let writer = Mutex(Writer())
    private let seed: UInt64
    private let byteCountMax: Int

    /// An empty table.
    ///
    /// - Parameters:
    ///   - customerCount: how many customers to make room for at once; it grows beyond.
    ///   - byteCountMax: past this new customers are not taken in, and misses go to the store.
    ///   - readerCount: how many `ReaderSlot`s can be handed out.
    package init(customerCount: Int, byteCountMax: Int, readerCount: Int) {
        precondition(customerCount >= 0 && byteCountMax > 0 && readerCount > 0)
        self.byteCountMax = byteCountMax
        self.readerCount = readerCount
        seed = UInt64.random(in: .min ... .max)
        unsafe readerEpochs = .allocate(capacity: readerCount)
        for index in 0..<readerCount {
            unsafe (readerEpochs + index).initialize(to: Atomic(0))
        }
        var capacity = 1 << 10
        while capacity < customerCount * 2 { capacity *= 2 }
        slots = Atomic(unsafe UInt(bitPattern: Self.allocateSlots(capacity: capacity)))
        writer.withLock {
            $0.byteCount = Self.slotsByteCount(capacity: capacity)
        }
    }

    deinit {
        let (base, mask) = unsafe slotsBase(UInt64(slots.load(ordering: .acquiring)))
        for index in 0...mask {
            let word = unsafe base[Int(index)].load(ordering: .relaxed)
            if word > Self.removedSlot { unsafe free(Self.entry(word)) }
        }
        let header = unsafe UnsafeMutableRawPointer(
            bitPattern: slots.load(ordering: .relaxed))
        unsafe munmap(header, Self.slotsByteCount(capacity: Int(mask) + 1))
        writer.withLock { writer in
            for retired in writer.retired { Self.release(retired) }
        }
        unsafe readerEpochs.deinitialize(count: readerCount)
        unsafe readerEpochs.deallocate()
    }
}

// MARK: - Reading

extension CustomerTable {
    /// A place for one more reader.
    ///
    /// - Precondition: at most as many as the table was made for.
    package func makeReader() -> ReaderSlot {
        let index = nextReader.add(1, ordering: .relaxed).oldValue
        precondition(index < readerCount, "the table was made for \(readerCount) readers")
        return ReaderSlot(index: index)
    }

    /// Whether every named customer is in the table, so that a miss is an answer.
    package var isComplete: Bool { complete.load(ordering: .acquiring) }

    /// Opens a batch of reads; entries seen in it stay alive until `endReading`.
    @inline(__always)
    package func beginReading(_ reader: ReaderSlot) {
        let now = epoch.load(ordering: .acquiring)
        unsafe readerEpochs[reader.index].store(now, ordering: .sequentiallyConsistent)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }

    /// Closes the batch; the reader holds nothing any more.
    @inline(__always)
    package func endReading(_ reader: ReaderSlot) {
        unsafe readerEpochs[reader.index].store(0, ordering: .releasing)
    }

    /// Calls `body` with the snapshot of the customer called `name`; false without one.
    ///
    /// - Precondition: between `beginReading` and `endReading` of `reader`, on its thread.
    @inline(__always)
    package func withSnapshot(
        scope: UInt16, name: Span<UInt8>, reader: ReaderSlot, _ body: (Span<UInt8>) -> Void
    ) -> Bool {
        precondition(
            unsafe readerEpochs[reader.index].load(ordering: .relaxed) != 0,
            "a read outside of a batch could see freed memory")
        let hash = hash(scope: scope, name: name)
        let (base, mask) = unsafe slotsBase(UInt64(slots.load(ordering: .acquiring)))
        var index = hash & mask
        while true {
            let word = unsafe base[Int(index)].load(ordering: .acquiring)
            if word == Self.emptySlot { return false }
            if word >> 48 == hash >> 48, word != Self.removedSlot {
                let entry = unsafe Self.entry(word)
                if unsafe matches(entry, scope: scope, name: name) {
                    let byteCount = Int(unsafe entry.load(fromByteOffset: 8, as: UInt32.self))
                    let start = unsafe (entry + (Self.entryHeader + name.count))
                        .assumingMemoryBound(to: UInt8.self)
                    body(unsafe Span(_unsafeStart: start, count: byteCount))
                    return true
                }
            }
            index = (index &+ 1) & mask
        }
    }
}

// MARK: - Writing

extension CustomerTable {
    /// Publishes `snapshot` under `name`: a new entry, or the replacement of the old one.
    ///
    /// Past `byteCountMax` a new customer is left out and the table is no longer complete; a
    /// customer who is in it is always replaced, so that no answer is stale.
    package func put(scope: UInt16, name: [UInt8], snapshot: [UInt8]) {
        publish(scope: scope, name: name, snapshot: snapshot, replaces: true)
    }

    /// Adds a customer whom nobody has published yet: warming must not overwrite what is newer.
    package func insertIfAbsent(scope: UInt16, name: [UInt8], snapshot: [UInt8]) {
        publish(scope: scope, name: name, snapshot: snapshot, replaces: false)
    }

    /// Says that every named customer has been put in; false stays false once one was left out.
    package func finishWarming() {
        writer.withLock { writer in
            if !writer.hasLeftOut { complete.store(true, ordering: .releasing) }
        }
    }

    /// Frees what no reader can hold any more; called after each group of changes.
    package func reclaim() {
        let free = writer.withLock { takeReclaimable(&$0) }
        for retired in free { Self.release(retired) }
    }

    /// How many customers are in it and how many bytes they take.
    package var usage: (customers: Int, bytes: Int) {
        writer.withLock { ($0.count, $0.byteCount) }
    }

    private func publish(scope: UInt16, name: [UInt8], snapshot: [UInt8], replaces: Bool) {
        let hash = hash(scope: scope, name: name.span)
        writer.withLock { writer in
            growIfNeeded(&writer)
            let (base, mask) = unsafe slotsBase(UInt64(slots.load(ordering: .relaxed)))
            var index = hash & mask
            while true {
                let word = unsafe base[Int(index)].load(ordering: .relaxed)
                if word == Self.emptySlot { break }
                if word >> 48 == hash >> 48, word != Self.removedSlot,
                    unsafe matches(Self.entry(word), scope: scope, name: name.span)
                {
                    guard replaces else { return }
                    let entry = unsafe Self.makeEntry(hash, scope, name, snapshot)
                    unsafe base[Int(index)].store(
                        Self.word(hash, entry), ordering: .sequentiallyConsistent)
                    unsafe retire(Self.entry(word), &writer)
                    writer.byteCount += snapshot.count - Self.snapshotByteCount(word)
                    return
                }
                index = (index &+ 1) & mask
            }
            let byteCount = Self.entryHeader + name.count + snapshot.count
            guard replaces || !writer.refusesWarming,
                writer.byteCount + byteCount <= byteCountMax
            else {
                writer.hasLeftOut = true
                if replaces { writer.refusesWarming = true }
                complete.store(false, ordering: .releasing)
                return
            }
            let entry = unsafe Self.makeEntry(hash, scope, name, snapshot)
            unsafe base[Int(index)].store(Self.word(hash, entry), ordering: .sequentiallyConsistent)
            writer.count += 1
            writer.usedSlots += 1
            writer.byteCount += byteCount
        }
    }

    /// Doubles the slots when two thirds are used; readers move over by one store.
    private func growIfNeeded(_ writer: inout Writer) {
        let header = slots.load(ordering: .relaxed)
        let (base, mask) = unsafe slotsBase(UInt64(header))
        let capacity = Int(mask) + 1
        guard writer.usedSlots * 3 > capacity * 2 else { return }
        let newHeader = unsafe Self.allocateSlots(capacity: capacity * 2)
        let (newBase, newMask) = unsafe slotsBase(UInt64(UInt(bitPattern: newHeader)))
        for position in 0..<capacity {
            let word = unsafe base[position].load(ordering: .relaxed)
            guard word > Self.removedSlot else { continue }
            var index = unsafe Self.entry(word).load(as: UInt64.self) & newMask
            while unsafe newBase[Int(index)].load(ordering: .relaxed) != Self.emptySlot {
                index = (index &+ 1) & newMask
            }
            unsafe newBase[Int(index)].store(word, ordering: .relaxed)
        }
        slots.store(UInt(bitPattern: newHeader), ordering: .sequentiallyConsistent)
        if let old = unsafe UnsafeMutableRawPointer(bitPattern: header) {
            unsafe retire(old, &writer, mappedByteCount: Self.slotsByteCount(capacity: capacity))
        }
        writer.usedSlots = writer.count
        writer.byteCount += Self.slotsByteCount(capacity: capacity)
    }

    private func retire(
        _ block: UnsafeMutableRawPointer, _ writer: inout Writer, mappedByteCount: Int = 0
    ) {
        let stamp = epoch.add(1, ordering: .sequentiallyConsistent).oldValue
        let address = UInt(bitPattern: block)
        writer.retired.append(
            Retired(epoch: stamp, address: address, mappedByteCount: mappedByteCount))
    }

    private func takeReclaimable(_ writer: inout Writer) -> [Retired] {
        guard !writer.retired.isEmpty else { return [] }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        var oldest = UInt64.max
        for index in 0..<readerCount {
            let seen = unsafe readerEpochs[index].load(ordering: .sequentiallyConsistent)
            if seen != 0 { oldest = min(oldest, seen) }
        }
        let count = writer.retired.firstIndex { $0.epoch >= oldest } ?? writer.retired.count
        defer { writer.retired.removeFirst(count) }
        return Array(writer.retired.prefix(count))
    }

    private static func release(_ retired: Retired) {
        let block = unsafe UnsafeMutableRawPointer(bitPattern: retired.address)
        if retired.mappedByteCount > 0 {
            unsafe munmap(block, retired.mappedByteCount)
        } else {
            unsafe free(block)
        }
    }
}

// MARK: - Entries: u64 hash, u32 snapshot bytes, u16 scope, u16 name bytes, name, snapshot

extension CustomerTable {
    private static var entryHeader: Int { 16 }

    private static func makeEntry(
        _ hash: UInt64, _ scope: UInt16, _ name: [UInt8], _ snapshot: [UInt8]
    ) -> UnsafeMutableRawPointer {
        guard let block = unsafe malloc(entryHeader + name.count + snapshot.count) else {
            fatalError("out of memory for a snapshot of \(snapshot.count) bytes")
        }
        unsafe block.storeBytes(of: hash, as: UInt64.self)
        unsafe block.storeBytes(of: UInt32(snapshot.count), toByteOffset: 8, as: UInt32.self)
        unsafe block.storeBytes(of: scope, toByteOffset: 12, as: UInt16.self)
        unsafe block.storeBytes(of: UInt16(name.count), toByteOffset: 14, as: UInt16.self)
        unsafe name.withUnsafeBytes {
            guard let source = $0.baseAddress else { return }
            unsafe (block + entryHeader).copyMemory(from: source, byteCount: name.count)
        }
        unsafe snapshot.withUnsafeBytes {
            guard let source = $0.baseAddress else { return }
            unsafe (block + (entryHeader + name.count))
                .copyMemory(from: source, byteCount: snapshot.count)
        }
        return unsafe block
    }

    private static func word(_ hash: UInt64, _ entry: UnsafeMutableRawPointer) -> UInt64 {
        (hash & ~pointerMask) | UInt64(UInt(bitPattern: entry))
    }

    @inline(__always)
    private static func entry(_ word: UInt64) -> UnsafeMutableRawPointer {
        guard let entry = unsafe UnsafeMutableRawPointer(bitPattern: UInt(word & pointerMask))
        else {
            preconditionFailure("a slot that is not empty points to an entry")
        }
        return unsafe entry
    }

    private static func snapshotByteCount(_ word: UInt64) -> Int {
        Int(unsafe entry(word).load(fromByteOffset: 8, as: UInt32.self))
    }

    @inline(__always)
    private func matches(
        _ entry: UnsafeMutableRawPointer, scope: UInt16, name: Span<UInt8>
    ) -> Bool {
        guard unsafe entry.load(fromByteOffset: 12, as: UInt16.self) == scope,
            Int(unsafe entry.load(fromByteOffset: 14, as: UInt16.self)) == name.count
        else { return false }
        return unsafe name.withUnsafeBytes {
            guard let start = $0.baseAddress else { return true }
            return unsafe memcmp(entry + Self.entryHeader, start, $0.count) == 0
        }
    }

    /// A seeded multiply-and-fold hash of eight bytes at a time; the seed is secret to the process,
    /// so that nobody can choose names that collide.
    @inline(__always)
    private func hash(scope: UInt16, name: Span<UInt8>) -> UInt64 {
        var state = seed ^ (UInt64(scope) &<< 32) ^ UInt64(truncatingIfNeeded: name.count)
        return unsafe name.withUnsafeBytes { bytes in
            var offset = 0
            while offset &+ 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = Self.fold(state ^ word, 0x9E37_79B9_7F4A_7C15)
                offset &+= 8
            }
            var tail: UInt64 = 0
            while offset < bytes.count {
                tail = tail &<< 8 | UInt64(unsafe bytes[offset])
                offset &+= 1
            }
            return Self.fold(Self.fold(state ^ tail, 0xD6E8_FEB8_6659_FD93), seed | 1)
        }
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    private static func slotsByteCount(capacity: Int) -> Int { (capacity + 1) * 8 }

    private static func allocateSlots(capacity: Int) -> UnsafeMutableRawPointer {
        let byteCount = slotsByteCount(capacity: capacity)
        let protection = PROT_READ | PROT_WRITE
        let memory = unsafe mmap(nil, byteCount, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            fatalError("out of memory for a table of \(capacity) slots")
        }
        // Huge pages save a third of a random look-up in a table of millions; a refusal is
        // harmless.
        unsafe madvise(memory, byteCount, MADV_HUGEPAGE)
        unsafe memory.storeBytes(of: UInt64(capacity - 1), as: UInt64.self)
        return unsafe memory
    }

    @inline(__always)
    private func slotsBase(
        _ header: UInt64
    ) -> (base: UnsafeMutablePointer<Atomic<UInt64>>, mask: UInt64) {
        guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: UInt(header)) else {
            preconditionFailure("the table always has slots")
        }
        let base = unsafe (memory + 8).assumingMemoryBound(to: Atomic<UInt64>.self)
        return unsafe (base, memory.load(as: UInt64.self))
    }
}
