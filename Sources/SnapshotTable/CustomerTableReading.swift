public import CProcessor
public import Synchronization

// What readers do. All of it can be inlined into other modules: a check is one function then. For
// that the types have to be usable from inline code as well; without it `@inlinable` says nothing.

extension CustomerTable {
    /// Whether every named customer is in the table, so that a miss is an answer.
    ///
    /// Ask before the look-up, in the same batch of reads: who was told *true* finds everybody
    /// until the batch ends.
    @inlinable package var isComplete: Bool { complete.load(ordering: .acquiring) }

    /// Opens a batch of reads; entries seen in it stay alive until `endReading`.
    @inlinable @inline(__always)
    package func beginReading(_ reader: ReaderSlot) {
        let now = epoch.load(ordering: .acquiring)
        unsafe readerEpochs[reader.index &* Self.readerStride].store(
            now, ordering: .sequentiallyConsistent)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }

    /// Closes the batch; the reader holds nothing any more.
    @inlinable @inline(__always)
    package func endReading(_ reader: ReaderSlot) {
        unsafe readerEpochs[reader.index &* Self.readerStride].store(0, ordering: .releasing)
    }

    /// Traps outside of a batch of reads.
    @inlinable @inline(__always)
    func preconditionReading(_ reader: ReaderSlot) {
        precondition(
            unsafe readerEpochs[reader.index &* Self.readerStride].load(ordering: .relaxed) != 0,
            "a read outside of a batch could see memory that was used again")
    }

    /// Starts to bring the slot of a hash close. Any thread, at any time; the first of two steps
    /// that hide the memory's latency behind the other questions of a batch.
    @inlinable @inline(__always)
    package func prefetchSlot(_ hash: UInt64) {
        let slots = SlotArray(slots.load(ordering: .acquiring))
        unsafe cprocessor_prefetch(slots.base + slots.home(hash))
    }

    /// Starts to bring the entry behind the slot of a hash close: the second step.
    ///
    /// - Precondition: between `beginReading` and `endReading`, on the reader's thread.
    @inline(__always)
    func prefetchEntry(_ hash: UInt64, in slots: SlotArray) {
        var index = slots.home(hash)
        var word = slots.load(index)
        // Another's entry would be of no use; a third of all are not in their first slot.
        while word &>> 32 != hash &>> 32 {
            guard word != 0 else { return }
            index = (index &+ 1) & slots.mask
            word = slots.load(index)
        }
        let entry = unsafe entry(word)
        unsafe cprocessor_prefetch(entry)
        unsafe cprocessor_prefetch(entry + 64)
        unsafe cprocessor_prefetch(entry + 128)
        unsafe cprocessor_prefetch(entry + 192)
        unsafe cprocessor_prefetch(entry + 256)
    }

    /// Calls `body` with the snapshot of the customer called `name`; false without one.
    ///
    /// - Precondition: between `beginReading` and `endReading` of `reader`, on its thread.
    @inlinable @inline(__always)
    package func withSnapshot(
        scope: UInt16, name: Span<UInt8>, reader: ReaderSlot, _ body: (Span<UInt8>) -> Void
    ) -> Bool {
        withSnapshot(
            hash: hash(scope: scope, name: name), scope: scope, name: name, reader: reader, body)
    }

    /// The same for a name whose hash is known.
    @inlinable @inline(__always)
    package func withSnapshot(
        hash: UInt64, scope: UInt16, name: Span<UInt8>, reader: ReaderSlot,
        _ body: (Span<UInt8>) -> Void
    ) -> Bool {
        preconditionReading(reader)
        let slots = SlotArray(slots.load(ordering: .acquiring))
        let place = place(hash, scope, name, in: slots)
        guard place != 0 else { return false }
        body(unsafe Span(_unsafeElements: snapshot(at: place, nameCount: name.count)))
        return true
    }

    /// The place of the entry of a name; 0: none. `slots` is what `self.slots` said before.
    @inlinable @inline(__always)
    package func place(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>, in array: SlotArray
    ) -> Int {
        let place = find(hash, scope, name, in: array)
        if place != 0 { return place }
        // Once more only where it may have moved meanwhile.
        let isOld = oldSlots.load(ordering: .acquiring) != 0
        guard isOld || slots.load(ordering: .acquiring) != array.word else { return 0 }
        return findWhileGrowing(hash, scope, name)
    }

    /// The snapshot of the entry at a place, which is marked as read.
    ///
    /// It lives until the reader leaves its batch.
    @unsafe @inlinable @inline(__always)
    package func snapshot(at place: Int, nameCount: Int) -> UnsafeBufferPointer<UInt8> {
        let entry = unsafe arenaBase + place
        let head = unsafe head(of: entry)
        let header = unsafe head.pointee.load(ordering: .relaxed)
        if header & EntryHeader.mark == 0 {
            unsafe head.pointee.store(header | EntryHeader.mark, ordering: .relaxed)
        }
        return unsafe UnsafeBufferPointer(
            start: EntryHeader.snapshot(of: entry, header: header, nameCount: nameCount),
            count: EntryHeader.byteCount(header))
    }

    /// The place of the entry of a name, in bytes from the start of the arena; 0: none.
    @inlinable @inline(__always)
    package func find(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>, in slots: SlotArray
    ) -> Int {
        let key = EntryHeader.key(scope: scope, nameCount: name.count)
        var index = slots.home(hash)
        while true {
            let word = slots.load(index)
            if word == 0 { return 0 }
            if word &>> 32 == hash &>> 32, word & 0xFFFF_FFFF > 1 {
                let entry = unsafe entry(word)
                let header = unsafe head(of: entry).pointee.load(ordering: .relaxed)
                if header &>> 32 == key, unsafe EntryHeader.hasName(name, entry) {
                    return place(word)
                }
            }
            index = (index &+ 1) & slots.mask
        }
    }

    /// The same while the table grows.
    ///
    /// Growing stores `oldSlots` and then `slots`, copies each entry to the new array and then
    /// takes it out of the old one, and stores 0 in `oldSlots` at last. So who has read `slots` and
    /// then `oldSlots`, and misses an entry in the new array and then in the old one, missed it
    /// while it moved and finds it in the new one.
    @usableFromInline @inline(never)
    func findWhileGrowing(_ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>) -> Int {
        while true {
            let word = slots.load(ordering: .acquiring)
            let oldWord = oldSlots.load(ordering: .acquiring)
            var place = find(hash, scope, name, in: SlotArray(word))
            if place == 0, oldWord != 0 {
                place = find(hash, scope, name, in: SlotArray(oldWord))
                if place == 0 { place = find(hash, scope, name, in: SlotArray(word)) }
            }
            if place != 0 || slots.load(ordering: .acquiring) == word { return place }
        }
    }

    /// The place that the word of a slot names, in bytes from the start of the arena.
    @inlinable @inline(__always)
    package func place(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: (word & 0xFFFF_FFFF) &<< unitShift)
    }

    @inlinable @inline(__always)
    package func entry(_ word: UInt64) -> UnsafeMutableRawPointer { unsafe arenaBase + place(word) }

    @inlinable @inline(__always)
    package func head(of entry: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe entry.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// A seeded multiply-and-fold hash of eight bytes at a time; the seed is secret to the process,
    /// so that nobody can choose names that collide.
    @inlinable @inline(__always)
    package func hash(scope: UInt16, name: Span<UInt8>) -> UInt64 {
        var state = seed ^ (UInt64(scope) &<< 32) ^ UInt64(truncatingIfNeeded: name.count)
        return unsafe name.withUnsafeBytes { bytes in
            var offset = 0
            while offset &+ 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = Self.fold(state ^ word, 0x9E37_79B9_7F4A_7C15)
                offset &+= 8
            }
            var tail: UInt64 = 0
            if bytes.count >= 8 {
                // The last eight again, with some that came before.
                tail = unsafe bytes.loadUnaligned(
                    fromByteOffset: bytes.count &- 8, as: UInt64.self)
            } else {
                for index in 0..<bytes.count { tail = tail &<< 8 | UInt64(unsafe bytes[index]) }
            }
            return Self.fold(Self.fold(state ^ tail, 0xD6E8_FEB8_6659_FD93), seed | 1)
        }
    }

    @inlinable @inline(__always)
    package static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// An entry: a word of header, the name, the snapshot; a large snapshot is elsewhere, and its
/// address stands in its place, at the next multiple of eight.
///
/// The header, from its lowest bit: 30 bits bytes of the snapshot, 1 whether it is elsewhere, 1
/// whether it was read since the clock's hand came by, 16 bytes of the name, 16 scope.
@usableFromInline package enum EntryHeader {
    /// Bytes of a header.
    @inlinable package static var size: Int { 8 }
    /// That the snapshot is elsewhere.
    @inlinable package static var large: UInt64 { 1 << 30 }
    /// That it was read.
    @inlinable package static var mark: UInt64 { 1 << 31 }
    /// No snapshot is as large.
    @inlinable package static var byteCountEnd: Int { 1 << 30 }

    /// Bytes of the snapshot.
    @inlinable @inline(__always)
    package static func byteCount(_ header: UInt64) -> Int {
        Int(truncatingIfNeeded: header & 0x3FFF_FFFF)
    }

    /// Bytes of the name.
    @inlinable @inline(__always)
    package static func nameCount(_ header: UInt64) -> Int {
        Int(truncatingIfNeeded: header &>> 32 & 0xFFFF)
    }

    /// The high half of a header.
    @inlinable @inline(__always)
    package static func key(scope: UInt16, nameCount: Int) -> UInt64 {
        UInt64(scope) &<< 16 | UInt64(truncatingIfNeeded: nameCount)
    }

    /// Whether the entry has this name; it is as long.
    @inlinable @inline(__always)
    package static func hasName(_ name: Span<UInt8>, _ entry: UnsafeMutableRawPointer) -> Bool {
        unsafe name.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe hasSameBytes(UnsafeRawPointer(entry + size), start, bytes.count)
        }
    }

    /// Where the snapshot begins.
    @inlinable @inline(__always)
    package static func snapshot(
        of entry: UnsafeMutableRawPointer, header: UInt64, nameCount: Int
    ) -> UnsafePointer<UInt8> {
        guard header & large != 0 else {
            return unsafe UnsafePointer(
                (entry + (size &+ nameCount)).assumingMemoryBound(to: UInt8.self))
        }
        let address = unsafe entry.load(
            fromByteOffset: size &+ ((nameCount &+ 7) & ~7), as: UInt.self)
        guard let start = unsafe UnsafePointer<UInt8>(bitPattern: address) else {
            preconditionFailure("a large snapshot is somewhere")
        }
        return unsafe start
    }
}
