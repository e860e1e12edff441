/// A growable queue of bytes: appended at the end, consumed from the front, reused for ever.
///
/// A loop encodes the answers of one read into one of these and writes it with one call; a
/// connection keeps in one what the peer has not taken yet. Growth doubles, so the cost per byte is
/// constant; `removeAll` and `consume` give back what a large burst had claimed.
///
/// `@unchecked Sendable`: the storage has one owner, this value, which cannot be copied.
@safe @usableFromInline package struct OutputBuffer: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    @usableFromInline var start: Int
    @usableFromInline var end: Int
    /// What an emptied buffer may keep, in bytes.
    private let retainedByteCountMax: Int

    /// An empty buffer.
    ///
    /// - Parameters:
    ///   - capacity: bytes to claim at once; 0 claims nothing until the first byte.
    ///   - retainedByteCountMax: an emptied buffer larger than this is given back.
    package init(capacity: Int = 0, retainedByteCountMax: Int = 256 << 10) {
        precondition(capacity >= 0 && retainedByteCountMax >= 0)
        unsafe base = UnsafeMutablePointer.allocate(capacity: capacity)
        self.capacity = capacity
        start = 0
        end = 0
        self.retainedByteCountMax = max(retainedByteCountMax, capacity)
    }

    deinit { unsafe base.deallocate() }

    /// Bytes waiting to be consumed.
    @inlinable
    package var count: Int { end &- start }

    /// Whether nothing waits.
    package var isEmpty: Bool { end == start }

    /// Bytes of memory held.
    package var capacityByteCount: Int { capacity }

    /// The bytes waiting, in order. Any mutation ends the span's life.
    package var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(_unsafeStart: base + start, count: end - start)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Appends `bytes`.
    package mutating func append(_ bytes: Span<UInt8>) {
        let count = bytes.count
        guard count > 0 else { return }
        reserve(count)
        let target = unsafe base + end
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let address = source.baseAddress else { return }
            unsafe target.update(from: address, count: count)
        }
        end += count
    }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe base[end] = byte
        end += 1
    }

    /// Forgets the first `count` bytes; `count` must not be more than there are.
    package mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= end - start)
        start += count
        if start == end { removeAll() }
    }

    /// Forgets everything; gives memory back beyond what is retained.
    package mutating func removeAll() {
        start = 0
        end = 0
        if capacity > retainedByteCountMax {
            unsafe base.deallocate()
            unsafe base = UnsafeMutablePointer.allocate(capacity: 0)
            capacity = 0
        }
    }

    /// Makes room for `byteCount` more bytes.
    package mutating func reserve(_ byteCount: Int) {
        precondition(byteCount >= 0)
        if byteCount > capacity - end { makeRoom(byteCount) }
    }

    /// Moves the bytes to the front, or to a larger home when that is not enough.
    private mutating func makeRoom(_ byteCount: Int) {
        let count = end - start
        // Moving is cheaper than growing only while it moves less than it frees.
        if start >= count, byteCount <= capacity - count {
            unsafe base.update(from: base + start, count: count)
        } else {
            let grown = max(count + byteCount, capacity * 2, 256)
            let target = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
            unsafe target.update(from: base + start, count: count)
            unsafe base.deallocate()
            unsafe base = target
            capacity = grown
        }
        start = 0
        end = count
    }
}

extension OutputBuffer {
    /// Lets `body` write up to `byteCount` bytes at the end; it returns how many it wrote.
    ///
    /// `body` gets the address of `byteCount` writable bytes.
    @inline(__always)
    mutating func write(
        upTo byteCount: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
    ) {
        reserve(byteCount)
        let written = unsafe body(base + end)
        precondition(written >= 0 && written <= byteCount)
        end += written
    }

    /// Where the next byte goes, counted from the first byte waiting.
    package var mark: Int { end - start }

    /// Forgets everything from `mark` on.
    package mutating func truncate(to mark: Int) {
        precondition(mark >= 0 && mark <= end - start)
        end = start + mark
    }

    /// Overwrites four bytes at `mark` with `value`, big-endian.
    mutating func patch(_ value: UInt32, at mark: Int) {
        precondition(mark >= 0 && mark + 4 <= end - start)
        let target = unsafe base + start + mark
        unsafe target[0] = UInt8(truncatingIfNeeded: value >> 24)
        unsafe target[1] = UInt8(truncatingIfNeeded: value >> 16)
        unsafe target[2] = UInt8(truncatingIfNeeded: value >> 8)
        unsafe target[3] = UInt8(truncatingIfNeeded: value)
    }
}
