import Glibc
public import Synchronization

/// A look at an array of slots: one word each, the high half of the name's hash and the place of
/// the entry, in units from the start of the arena. 0: empty.
///
/// A slot is searched from `home` on, one after the other. Its home is the hash's highest bits, so
/// an array twice the size is filled front to back, without a look at any entry.
@safe @usableFromInline package struct SlotArray: BitwiseCopyable {
    @usableFromInline let base: UnsafeMutablePointer<Atomic<UInt64>>
    /// log2 of the number of slots.
    @usableFromInline let bits: UInt64

    /// The array that a word of `CustomerTable.slots` means; not 0.
    @inlinable @inline(__always)
    package init(_ word: UInt64) {
        let address = UInt(truncatingIfNeeded: word & 0xFF_FFFF_FFFF_FFFF)
        guard let start = unsafe UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: address) else {
            preconditionFailure("a table always has slots")
        }
        unsafe base = unsafe start
        bits = word &>> 56
    }

    /// Takes memory for 2^`bits` empty slots.
    init(bits: UInt64) {
        let byteCount = 8 << Int(bits)
        let protection = PROT_READ | PROT_WRITE
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = unsafe mmap(nil, byteCount, protection, flags, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            fatalError("out of memory for a table of \(1 << Int(bits)) slots")
        }
        // Huge pages save a third of a random look-up in a table of millions; a refusal is
        // harmless.
        unsafe madvise(memory, byteCount, MADV_HUGEPAGE)
        unsafe base = unsafe memory.assumingMemoryBound(to: Atomic<UInt64>.self)
        self.bits = bits
    }

    /// What `init(_:)` takes.
    @inlinable package var word: UInt64 { bits &<< 56 | UInt64(UInt(bitPattern: unsafe base)) }

    /// Gives the memory back. Nobody reads it any more.
    func unmap() { unsafe munmap(base, byteCount) }

    @inlinable package var mask: Int { (1 &<< Int(truncatingIfNeeded: bits)) &- 1 }
    var capacity: Int { 1 << Int(bits) }
    var byteCount: Int { 8 << Int(bits) }

    /// Where the search for a hash begins.
    @inlinable @inline(__always)
    package func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> (64 &- bits)) }

    @inlinable @inline(__always)
    package func load(_ index: Int) -> UInt64 { unsafe base[index].load(ordering: .acquiring) }

    func store(_ word: UInt64, at index: Int) {
        unsafe base[index].store(word, ordering: .sequentiallyConsistent)
    }

    /// Puts a word into the first empty slot from its home on. There is one: the array is never
    /// full.
    func insert(_ word: UInt64) {
        var index = home(word)
        while load(index) != 0 { index = (index &+ 1) & mask }
        store(word, at: index)
    }

    /// The slot with exactly this word.
    func index(of word: UInt64) -> Int? {
        var index = home(word)
        while true {
            let found = load(index)
            if found == word { return index }
            if found == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    /// Empties a slot and moves those behind it up, so that no search stops too early later on.
    ///
    /// A search that runs meanwhile may miss one that moves: it must not be taken for an answer.
    func remove(at index: Int) {
        var hole = index
        var next = (index &+ 1) & mask
        while true {
            let word = load(next)
            guard word != 0 else { break }
            // It may move up to the hole unless that is before its home.
            if (next &- home(word)) & mask >= (next &- hole) & mask {
                store(word, at: hole)
                hole = next
            }
            next = (next &+ 1) & mask
        }
        store(0, at: hole)
    }
}
