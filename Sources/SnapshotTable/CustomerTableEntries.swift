import Glibc
import Synchronization

// Writing entries, and making room for them.

extension CustomerTable {
    /// How much memory an entry takes.
    struct Sizes {
        /// Bytes in a segment.
        let inSegment: Int
        /// Bytes elsewhere; 0: nothing is.
        let elsewhere: Int
        /// Bytes of the snapshot itself.
        let snapshotCount: Int

        init(nameCount: Int, snapshotCount: Int, of arena: SnapshotArena) {
            precondition(nameCount <= Int(UInt16.max), "no name is as long")
            precondition(snapshotCount < EntryHeader.byteCountEnd, "no snapshot is as large")
            self.snapshotCount = snapshotCount
            let whole = EntryHeader.size + nameCount + snapshotCount
            // A quarter of a segment would leave too much of its end unused.
            if whole <= arena.segmentByteCount / 4 {
                inSegment = arena.rounded(whole)
                elsewhere = 0
            } else {
                inSegment = arena.rounded(EntryHeader.size + (nameCount + 7) & ~7 + 8)
                elsewhere = CustomerTable.largeHeaderByteCount + snapshotCount
            }
        }

        init(_ name: [UInt8], _ snapshot: [UInt8], of arena: SnapshotArena) {
            self.init(nameCount: name.count, snapshotCount: snapshot.count, of: arena)
        }

        /// Bytes of the entry with this header that are in its segment.
        static func inSegment(_ header: UInt64, of arena: SnapshotArena) -> Int {
            Sizes(
                nameCount: EntryHeader.nameCount(header),
                snapshotCount: EntryHeader.byteCount(header), of: arena
            ).inSegment
        }
    }

    /// Room for an entry, as bytes from the start of the arena; nil without any. `evicting` says
    /// whether others may be put out for it, `waiting` whether to wait for readers before the first
    /// one is.
    func makeRoom(
        _ size: Sizes, _ writer: inout Writer, evicting: Bool, waiting: Bool
    ) -> Int? {
        guard size.inSegment + size.elsewhere <= byteCountMax / 4 else { return nil }
        let evicts = { (writer: inout Writer) in
            evicting && self.mayEvict(&writer, waiting: waiting)
        }
        var attempts = 4
        while byteCount(writer) + size.elsewhere > byteCountMax, size.elsewhere > 0 {
            writer.arena.shrink(to: segmentsByteLimit(writer) - size.elsewhere)
            guard byteCount(writer) + size.elsewhere > byteCountMax else { break }
            attempts = max(attempts, 4 + size.elsewhere / writer.arena.segmentByteCount)
            guard attempts > 0,
                emptySegment(&writer, evicting: evicts(&writer), isLast: attempts == 1)
            else { return nil }
            attempts -= 1
            releaseNow(&writer)
        }
        cleanAhead(&writer, evicting: evicting)
        attempts = 4
        while true {
            let limit = segmentsByteLimit(writer) - size.elsewhere
            let place = writer.arena.allocate(
                size.inSegment, reserve: SnapshotArena.reserveCount, within: limit)
            if let place { return place }
            releaseNow(&writer)
            // Who may not wait fills again what was emptied before, when its readers have left.
            guard waiting || !writer.arena.hasRetired, attempts > 0,
                emptySegment(&writer, evicting: evicts(&writer), isLast: attempts == 1)
            else { return nil }
            attempts -= 1
            releaseNow(&writer)
        }
    }

    /// Empties one segment more while few are left: those emptied now can be filled only when the
    /// batches of reads that are under way are over.
    private func cleanAhead(_ writer: inout Writer, evicting: Bool) {
        guard isShort(writer) else { return }
        releaseNow(&writer)
        guard isShort(writer), !writer.arena.hasRetired else { return }
        _ = emptySegment(&writer, evicting: evicting && writer.mayEvict)
    }

    private func isShort(_ writer: borrowing Writer) -> Bool {
        writer.arena.availableCount(within: segmentsByteLimit(writer))
            <= SnapshotArena.reserveCount + 1
    }

    private func releaseNow(_ writer: inout Writer) {
        for retired in reclaim(&writer) { Self.release(retired) }
    }

    /// Empties a segment; false where none can be. With `isLast` it makes room, whoever was read.
    private func emptySegment(
        _ writer: inout Writer, evicting: Bool, isLast: Bool = false
    ) -> Bool {
        if let segment = writer.arena.emptiest(), empty(segment, &writer, keeping: .all) {
            return true
        }
        return evicting && evictSegment(&writer, isLast: isLast)
    }

    /// Empties the segment under the clock's hand; false without one. With `isLast` it makes room,
    /// whoever was read.
    ///
    /// - Precondition: `mayEvict`.
    func evictSegment(_ writer: inout Writer, isLast: Bool = false) -> Bool {
        guard let segment = writer.arena.nextForEviction() else { return false }
        return empty(segment, &writer, keeping: isLast ? .halfOfMarked : .marked)
    }

    /// What of a segment is copied out before it is used again.
    private enum Keeping {
        /// All that is in the table.
        case all
        /// What was read since the hand came by last.
        case marked
        /// The same, until half a segment is full.
        case halfOfMarked
    }

    /// Copies out of a segment what is kept, puts out the rest, and retires it.
    ///
    /// - Returns: False where there was no room to copy to; then the rest is left in it.
    private func empty(
        _ segment: Int, _ writer: inout Writer, keeping: Keeping
    ) -> Bool {
        var offset = writer.arena.start(of: segment)
        let end = segment * writer.arena.segmentByteCount + writer.arena.fill[segment]
        var kept = 0
        let keptMax = keeping == .halfOfMarked ? writer.arena.segmentByteCount / 2 : .max
        while offset < end {
            let entry = unsafe arenaBase + offset
            let header = unsafe head(of: entry).pointee.load(ordering: .relaxed)
            let byteCount = Sizes.inSegment(header, of: writer.arena)
            defer { offset += byteCount }
            let word = unsafe word(of: entry, header, at: offset)
            guard let slot = locate(word) else { continue }
            let isWanted =
                keeping == .all
                || header & EntryHeader.mark != 0 && kept + byteCount <= keptMax
            if isWanted {
                let limit = segmentsByteLimit(writer)
                let place = writer.arena.allocate(byteCount, reserve: 0, within: limit)
                if let place {
                    kept += byteCount
                    unsafe move(entry, header, byteCount, to: place, slot.array, slot.index)
                    writer.arena.drop(offset, byteCount: byteCount)
                    continue
                }
                guard keeping != .all else { return false }
            }
            remove(slot.array, slot.index, word, &writer)
        }
        writer.arena.retire(segment, epoch: nextEpoch())
        return true
    }

    /// The word that the slot of an entry has, if it is in the table.
    private func word(
        of entry: UnsafeMutableRawPointer, _ header: UInt64, at offset: Int
    ) -> UInt64 {
        let start = unsafe (entry + EntryHeader.size).assumingMemoryBound(to: UInt8.self)
        let name = unsafe Span(_unsafeStart: start, count: EntryHeader.nameCount(header))
        let hash = hash(scope: UInt16(truncatingIfNeeded: header >> 48), name: name)
        return hash & ~0xFFFF_FFFF | UInt64(offset) >> unitShift
    }

    private func move(
        _ entry: UnsafeMutableRawPointer, _ header: UInt64, _ byteCount: Int, to place: Int,
        _ array: SlotArray, _ index: Int
    ) {
        let copy = unsafe arenaBase + place
        let rest = byteCount - EntryHeader.size
        unsafe (copy + EntryHeader.size).copyMemory(
            from: entry + EntryHeader.size, byteCount: rest)
        unsafe head(of: copy).pointee.store(header & ~EntryHeader.mark, ordering: .relaxed)
        let hash = array.load(index) & ~0xFFFF_FFFF
        array.store(hash | UInt64(place) >> unitShift, at: index)
    }

    /// Notes that the entry of a slot is in the table no more.
    func drop(_ word: UInt64, _ writer: inout Writer) {
        let entry = unsafe entry(word)
        let header = unsafe head(of: entry).pointee.load(ordering: .relaxed)
        writer.arena.drop(place(word), byteCount: Sizes.inSegment(header, of: writer.arena))
        guard header & EntryHeader.large != 0 else { return }
        unsafe writer.retired.append(
            .large(address: largeAddress(entry, header), epoch: nextEpoch()))
    }

    /// Fills the entry at `place`.
    func write(
        _ scope: UInt16, _ name: Span<UInt8>, _ snapshot: Span<UInt8>, _ size: Sizes,
        at place: Int, _ writer: inout Writer
    ) {
        let entry = unsafe arenaBase + place
        let key = EntryHeader.key(scope: scope, nameCount: name.count)
        var header = key << 32 | UInt64(snapshot.count)
        unsafe Self.copy(name, to: entry + EntryHeader.size)
        if size.elsewhere == 0 {
            unsafe Self.copy(snapshot, to: entry + (EntryHeader.size + name.count))
        } else {
            header |= EntryHeader.large
            let block = unsafe Self.makeLarge(size.elsewhere)
            unsafe Self.copy(snapshot, to: block + Self.largeHeaderByteCount)
            unsafe entry.storeBytes(
                of: UInt(bitPattern: block + Self.largeHeaderByteCount),
                toByteOffset: EntryHeader.size + (name.count + 7) & ~7, as: UInt.self)
            writer.largeByteCount += size.elsewhere
        }
        unsafe head(of: entry).pointee.store(header, ordering: .relaxed)
    }

    private static func copy(_ bytes: Span<UInt8>, to place: UnsafeMutableRawPointer) {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe place.copyMemory(from: source, byteCount: bytes.count)
        }
    }
}

// MARK: - Large snapshots: a block of their own, its size first

extension CustomerTable {
    static var largeHeaderByteCount: Int { 16 }

    private static func makeLarge(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let block = unsafe malloc(byteCount) else {
            fatalError("out of memory for a snapshot of \(byteCount) bytes")
        }
        unsafe block.storeBytes(of: byteCount, as: Int.self)
        return unsafe block
    }

    /// Where the snapshot of a large entry is.
    private func largeAddress(_ entry: UnsafeMutableRawPointer, _ header: UInt64) -> UInt {
        UInt(
            bitPattern: unsafe EntryHeader.snapshot(
                of: entry, header: header, nameCount: EntryHeader.nameCount(header)))
    }

    private static func block(_ address: UInt) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: address - UInt(largeHeaderByteCount))
    }

    static func largeByteCount(_ address: UInt) -> Int {
        unsafe block(address)?.load(as: Int.self) ?? 0
    }

    static func release(_ retired: Retired) {
        switch retired {
        case .slots(let word, _): SlotArray(word).unmap()
        case .large(let address, _): unsafe free(block(address))
        }
    }

    /// Frees the large snapshots behind an array, for nobody reads any more.
    func freeLarge(of array: SlotArray) {
        for index in 0..<array.capacity {
            let word = array.load(index)
            guard word & 0xFFFF_FFFF > 1 else { continue }
            let entry = unsafe entry(word)
            let header = unsafe head(of: entry).pointee.load(ordering: .relaxed)
            guard header & EntryHeader.large != 0 else { continue }
            unsafe free(Self.block(largeAddress(entry, header)))
        }
    }
}
