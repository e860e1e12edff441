/// A text that stands in an arena of bytes.
///
/// Eight bytes and no reference: a fold of thousands of transactions keeps five per transaction.
@usableFromInline package struct TextRange: Hashable, Sendable, BitwiseCopyable {
    /// Where it starts.
    @usableFromInline package var start: UInt32
    /// How many bytes it has.
    @usableFromInline package var count: UInt16

    /// A text of `count` bytes from `start` on.
    @inlinable
    package init(start: UInt32 = 0, count: UInt16 = 0) {
        self.start = start
        self.count = count
    }

    /// Its bytes, as positions.
    @inlinable
    package var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}
