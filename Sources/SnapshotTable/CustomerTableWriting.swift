import Glibc
import Synchronization

// What changes the table. One thread at a time: everything here holds `writer`.

extension CustomerTable {
    /// What became of a snapshot that was read from the store and offered.
    package enum Offer: Sendable {
        /// It is in the table.
        case taken
        /// The customer is in the table already, as new or newer.
        case known
        /// Something was published since it was read; read again.
        case outdated
        /// There is no room.
        case full
        /// Somebody else changes the table now.
        case busy
    }

    /// How many changes have been published. Note it before reading the store, to offer what was
    /// read. Any thread.
    package var changeCount: UInt64 { changes.load(ordering: .sequentiallyConsistent) }

    /// Publishes what a commit has written under `name`: all that readers find from now on.
    ///
    /// A customer in the table is replaced. Another one is taken in where there is room without
    /// putting anybody out; else he is left out, and the table is no longer complete. Any thread,
    /// but outside of batches of reads: it may wait until those under way are over.
    package func put(scope: UInt16, name: [UInt8], snapshot: [UInt8]) {
        let hash = hash(scope: scope, name: name.span)
        writer.withLock { writer in
            beginChange(hash, &writer)
            let isKnown = locate(hash, scope, name.span) != nil
            if !isKnown, !hasSlot(&writer, evicting: false) { return leaveOut(&writer) }
            let size = Sizes(name, snapshot, of: writer.arena)
            guard let place = makeRoom(size, &writer, evicting: isKnown, waiting: true) else {
                if isKnown { remove(hash, scope, name.span, &writer) }
                return leaveOut(&writer)
            }
            write(scope, name.span, snapshot.span, size, at: place, &writer)
            publish(hash, scope, name.span, at: place, &writer)
        }
    }

    /// Publishes that a commit has removed what was under `name`: nobody has it from now on, and
    /// whoever asks is answered as before anybody had it. Any thread.
    ///
    /// The slot stays in use until the table grows: a search that runs meanwhile must not stop
    /// there, and those behind it must not move, for a miss may be an answer.
    package func forget(scope: UInt16, name: [UInt8]) {
        let hash = hash(scope: scope, name: name.span)
        writer.withLock { writer in
            beginChange(hash, &writer)
            guard let old = locate(hash, scope, name.span) else { return }
            old.array.store(1, at: old.index)
            drop(old.word, &writer)
            writer.count -= 1
            if old.array.word == slots.load(ordering: .relaxed) { writer.emptiedCount += 1 }
        }
    }

    /// Has what was read before a change under this hash be outdated from now on.
    private func beginChange(_ hash: UInt64, _ writer: inout Writer) {
        let count = changes.load(ordering: .relaxed) + 1
        changes.store(count, ordering: .sequentiallyConsistent)
        unsafe stripes[stripe(hash)] = count
        moveSlots(&writer)
    }

    /// Offers a snapshot that was read from the store after `changeCount` said `readAt`.
    ///
    /// Never waits. Exact: see the comment at the head of CustomerTable.swift. Any thread.
    /// `evicting` says whether others may be put out for it.
    package func offer(
        scope: UInt16, name: Span<UInt8>, snapshot: Span<UInt8>, readAt: UInt64, evicting: Bool
    ) -> Offer {
        let hash = hash(scope: scope, name: name)
        return writer.withLockIfAvailable { writer in
            take(hash, scope, name, snapshot, readAt, &writer, evicting: evicting)
        } ?? .busy
    }

    /// The same from a thread that may wait: warming. Nobody is put out; who finds no room is left
    /// out.
    package func offerWaiting(
        scope: UInt16, name: Span<UInt8>, snapshot: Span<UInt8>, readAt: UInt64
    ) -> Offer {
        let hash = hash(scope: scope, name: name)
        return writer.withLock { writer in
            let offer = take(hash, scope, name, snapshot, readAt, &writer, evicting: false)
            if offer == .full { leaveOut(&writer) }
            return offer
        }
    }

    private func take(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>, _ snapshot: Span<UInt8>,
        _ readAt: UInt64, _ writer: inout Writer, evicting: Bool
    ) -> Offer {
        guard unsafe stripes[stripe(hash)] <= readAt else { return .outdated }
        moveSlots(&writer)
        guard locate(hash, scope, name) == nil else { return .known }
        guard hasSlot(&writer, evicting: evicting) else { return .full }
        let size = Sizes(nameCount: name.count, snapshotCount: snapshot.count, of: writer.arena)
        guard let place = makeRoom(size, &writer, evicting: evicting, waiting: false) else {
            return .full
        }
        write(scope, name, snapshot, size, at: place, &writer)
        publish(hash, scope, name, at: place, &writer)
        return .taken
    }

    /// Says that every named customer has been offered; false stays false once one was left out.
    package func finishWarming() {
        writer.withLock { writer in
            if !writer.hasLeftOut { complete.store(true, ordering: .releasing) }
        }
    }

    /// Makes memory usable that no reader can look at any more; called after each group of changes.
    package func reclaim() {
        let released = writer.withLock { writer in
            for _ in 0..<16 { moveSlots(&writer) }
            return reclaim(&writer)
        }
        for retired in released { Self.release(retired) }
    }

    private func stripe(_ hash: UInt64) -> Int {
        // The home of a slot is made of the high bits.
        Int(truncatingIfNeeded: hash) & (1 << stripeBits - 1)
    }
}

// MARK: - Slots

extension CustomerTable {
    /// The slot of a name: where it is, and in which array.
    private func locate(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>
    ) -> (array: SlotArray, index: Int, word: UInt64)? {
        let place = findWhileGrowing(hash, scope, name)
        guard place != 0 else { return nil }
        return locate(hash & ~0xFFFF_FFFF | UInt64(place) >> unitShift)
    }

    /// The slot with this word.
    func locate(_ word: UInt64) -> (array: SlotArray, index: Int, word: UInt64)? {
        for arrayWord in [slots.load(ordering: .relaxed), oldSlots.load(ordering: .relaxed)]
        where arrayWord != 0 {
            let array = SlotArray(arrayWord)
            if let index = array.index(of: word) { return (array, index, word) }
        }
        return nil
    }

    /// Puts the entry at `place` into the slot of its name and drops what was there.
    private func publish(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>, at place: Int,
        _ writer: inout Writer
    ) {
        let word = hash & ~0xFFFF_FFFF | UInt64(place) >> unitShift
        // Making room may have moved all slots: look anew.
        guard let old = locate(hash, scope, name) else {
            SlotArray(slots.load(ordering: .relaxed)).insert(word)
            writer.count += 1
            return
        }
        old.array.store(word, at: old.index)
        drop(old.word, &writer)
    }

    private func remove(
        _ hash: UInt64, _ scope: UInt16, _ name: Span<UInt8>, _ writer: inout Writer
    ) {
        guard mayEvict(&writer, waiting: true), let old = locate(hash, scope, name) else { return }
        remove(old.array, old.index, old.word, &writer)
    }

    /// Takes an entry out of the table.
    ///
    /// - Precondition: `mayEvict`.
    func remove(_ array: SlotArray, _ index: Int, _ word: UInt64, _ writer: inout Writer) {
        if array.word == slots.load(ordering: .relaxed) {
            array.remove(at: index)
        } else {
            array.store(1, at: index)
        }
        drop(word, &writer)
        writer.count -= 1
    }

    /// Whether there is a slot for one customer more; begins to grow where two thirds are taken.
    func hasSlot(_ writer: inout Writer, evicting: Bool) -> Bool {
        let current = SlotArray(slots.load(ordering: .relaxed))
        let usedCount = writer.count + writer.emptiedCount
        guard usedCount * 3 >= current.capacity * 2 else { return true }
        if oldSlots.load(ordering: .relaxed) == 0 {
            if byteCount(writer) + 2 * current.byteCount <= byteCountMax {
                grow(from: current, &writer)
                return true
            }
        }
        // No room to grow: searches become longer, up to seven eighths.
        while (writer.count + writer.emptiedCount) * 8 >= current.capacity * 7 {
            guard evicting, mayEvict(&writer, waiting: false), evictSegment(&writer) else {
                return false
            }
        }
        return true
    }

    private func grow(from current: SlotArray, _ writer: inout Writer) {
        let next = SlotArray(bits: current.bits + 1)
        writer.slotsByteCount += next.byteCount
        writer.movedCount = 0
        writer.emptiedCount = 0
        oldSlots.store(current.word, ordering: .sequentiallyConsistent)
        slots.store(next.word, ordering: .sequentiallyConsistent)
    }

    /// Moves some more of the old slots, if there are any: growing is paid for by the changes that
    /// come after it, a few microseconds each, for all at once would be a stall of 0.1 s with ten
    /// million customers.
    func moveSlots(_ writer: inout Writer) {
        let oldWord = oldSlots.load(ordering: .relaxed)
        guard oldWord != 0 else { return }
        let old = SlotArray(oldWord)
        let current = SlotArray(slots.load(ordering: .relaxed))
        let end = min(writer.movedCount + 256, old.capacity)
        for index in writer.movedCount..<end {
            let word = old.load(index)
            guard word > 1 else { continue }
            current.insert(word)
            old.store(1, at: index)
        }
        writer.movedCount = end
        guard end == old.capacity else { return }
        oldSlots.store(0, ordering: .sequentiallyConsistent)
        writer.retired.append(.slots(oldWord, epoch: nextEpoch()))
    }
}

// MARK: - Memory that readers may look at

extension CustomerTable {
    /// Ends an epoch: who begins to read from now on cannot see what is gone already.
    func nextEpoch() -> UInt64 { epoch.add(1, ordering: .sequentiallyConsistent).oldValue }

    /// The epoch of the reader who is the longest in his batch; `UInt64.max` without any.
    func oldestEpoch() -> UInt64 {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        var oldest = UInt64.max
        for index in 0..<readerCount {
            let seen = unsafe readerEpochs[index * Self.readerStride]
                .load(ordering: .sequentiallyConsistent)
            if seen != 0 { oldest = min(oldest, seen) }
        }
        return oldest
    }

    /// Notes that somebody is not in the table.
    func leaveOut(_ writer: inout Writer) {
        guard !writer.hasLeftOut else { return }
        writer.hasLeftOut = true
        complete.store(false, ordering: .sequentiallyConsistent)
        writer.leftOutEpoch = nextEpoch()
    }

    /// Whether entries may be put out: every reader knows that a miss is no answer.
    ///
    /// The first time it takes until all batches that are under way are over; `waiting` says
    /// whether to wait for that.
    func mayEvict(_ writer: inout Writer, waiting: Bool) -> Bool {
        leaveOut(&writer)
        while !writer.mayEvict {
            writer.mayEvict = oldestEpoch() > writer.leftOutEpoch
            guard !writer.mayEvict else { break }
            guard waiting else { return false }
            usleep(50)
        }
        return true
    }

    /// What can be released; segments are made usable at once.
    func reclaim(_ writer: inout Writer) -> [Retired] {
        guard !writer.retired.isEmpty || writer.arena.hasRetired else { return [] }
        let oldest = oldestEpoch()
        var released: [Retired] = []
        writer.retired.removeAll { retired in
            let epoch =
                switch retired {
                case .slots(_, let epoch), .large(_, let epoch): epoch
                }
            guard epoch < oldest else { return false }
            released.append(retired)
            return true
        }
        for retired in released {
            switch retired {
            case .slots(let word, _): writer.slotsByteCount -= SlotArray(word).byteCount
            case .large(let address, _): writer.largeByteCount -= Self.largeByteCount(address)
            }
        }
        writer.arena.reclaim(before: oldest, within: segmentsByteLimit(writer))
        return released
    }

    /// Bytes that segments may have.
    func segmentsByteLimit(_ writer: borrowing Writer) -> Int {
        max(0, byteCountMax - otherByteCount(writer))
    }
}
