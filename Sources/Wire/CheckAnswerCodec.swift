/// The answer to one check as the span encoder takes it; texts are passed beside it.
@usableFromInline package struct CheckAnswer: Equatable, Sendable {
    /// Yes or no.
    @usableFromInline package var granted: Bool
    /// The number of the `Reason`.
    @usableFromInline package var reason: Int32
    /// The number of the `Ownership`.
    @usableFromInline package var ownership: Int32
    /// When `granted` flips by itself, in milliseconds since 1970; 0 = never.
    @usableFromInline package var validUntilMilliseconds: Int64
    /// The last committed revision that the answer has seen.
    @usableFromInline package var revision: UInt64

    /// An answer.
    @inlinable
    package init(
        granted: Bool, reason: Int32, ownership: Int32, validUntilMilliseconds: Int64,
        revision: UInt64
    ) {
        self.granted = granted
        self.reason = reason
        self.ownership = ownership
        self.validUntilMilliseconds = validUntilMilliseconds
        self.revision = revision
    }
}

/// Writes answers to checks without protobuf-c, byte for byte what it would write.
package enum CheckAnswerCodec {
    /// Appends one frame: a `Response` that carries one answer.
    package static func appendFrame(
        id: UInt64, _ answer: CheckAnswer, product: Span<UInt8>, transaction: Span<UInt8>,
        original: Span<UInt8>, to output: inout OutputBuffer
    ) {
        let textByteCount = product.count &+ transaction.count &+ original.count
        unsafe output.write(upTo: textByteCount &+ fixedByteCountMax) { target in
            var writer = unsafe FieldWriter(target)
            writer.count = FrameDecoder.prefixByteCount
            writer.field(0x08, id)
            writer.byte(0x52)
            writer.answer(answer, product, transaction, original)
            writer.prefix()
            return writer.count
        }
    }

    /// Appends one result of a batch, as a field of `CheckAccessBatchResponse`.
    package static func appendResult(
        _ answer: CheckAnswer, product: Span<UInt8>, transaction: Span<UInt8>,
        original: Span<UInt8>, to output: inout OutputBuffer
    ) {
        let textByteCount = product.count &+ transaction.count &+ original.count
        unsafe output.write(upTo: textByteCount &+ fixedByteCountMax) { target in
            var writer = unsafe FieldWriter(target)
            writer.byte(0x0A)
            writer.answer(answer, product, transaction, original)
            return writer.count
        }
    }

    /// More than all but the texts takes: prefix 4; tags 10; ten varints of at most 10 bytes, one
    /// of which is written eight bytes at a time.
    private static var fixedByteCountMax: Int { 128 }

    /// Appends one frame: a `Response` that carries a batch. `results` is what `appendResult`
    /// wrote, one after the other.
    package static func appendBatchFrame(
        id: UInt64, results: Span<UInt8>, revision: UInt64, to output: inout OutputBuffer
    ) {
        let innerByteCount =
            results.count + (revision == 0 ? 0 : 1 + varintByteCount(revision))
        let bodyByteCount =
            (id == 0 ? 0 : 1 + varintByteCount(id)) + 1
            + varintByteCount(UInt64(innerByteCount)) + innerByteCount
        // A varint may be stored as a whole word.
        let roomByteCount = FrameDecoder.prefixByteCount + bodyByteCount + 8
        unsafe output.write(upTo: roomByteCount) { target in
            var writer = unsafe FieldWriter(target)
            writer.bigEndian(UInt32(bodyByteCount))
            writer.field(0x08, id)
            writer.byte(0x5A)
            writer.varint(UInt64(innerByteCount))
            writer.copy(results)
            writer.field(0x10, revision)
            return writer.count
        }
    }

    /// Bytes of a varint: one per seven bits, at least one.
    static func varintByteCount(_ value: UInt64) -> Int {
        (70 - (value | 1).leadingZeroBitCount) / 7
    }
}

/// A cursor over memory that its maker has sized for all that will be written.
@safe private struct FieldWriter {
    private let target: UnsafeMutablePointer<UInt8>
    var count = 0

    init(_ target: UnsafeMutablePointer<UInt8>) { unsafe self.target = target }

    @inline(__always)
    mutating func byte(_ byte: UInt8) {
        unsafe target[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func bigEndian(_ value: UInt32) {
        unsafe UnsafeMutableRawPointer(target + count)
            .storeBytes(of: value.bigEndian, as: UInt32.self)
        count &+= 4
    }

    /// Writes the byte count of all that stands behind the first four bytes into them.
    @inline(__always)
    mutating func prefix() {
        let end = count
        count = 0
        bigEndian(UInt32(truncatingIfNeeded: end &- FrameDecoder.prefixByteCount))
        count = end
    }

    /// Up to 56 bits are spread over eight bytes and stored as one word, of which what is no part
    /// of the varint is overwritten later.
    @inline(__always)
    mutating func varint(_ value: UInt64) {
        guard value < 1 &<< 56 else {
            count &+= unsafe Self.longVarint(value, at: target + count)
            return
        }
        var word = value & 0x0FFF_FFFF | (value & 0xFF_FFFF_F000_0000) &<< 4
        word = word & 0x3FFF_0000_3FFF | (word & 0xFFF_C000_0FFF_C000) &<< 2
        word = word & 0x7F_007F_007F_007F | (word & 0x3F80_3F80_3F80_3F80) &<< 1
        let bitCount = UInt64(truncatingIfNeeded: 63 &- (word | 1).leadingZeroBitCount) & 0x38
        word |= 0x8080_8080_8080_8080 & (1 &<< bitCount &- 1)
        unsafe UnsafeMutableRawPointer(target + count)
            .storeBytes(of: word.littleEndian, as: UInt64.self)
        count &+= Int(truncatingIfNeeded: bitCount &>> 3) &+ 1
    }

    /// One byte after the other; the number of bytes. No method that changes the writer: its
    /// position stays in a register then.
    @inline(never)
    private static func longVarint(_ value: UInt64, at target: UnsafeMutablePointer<UInt8>) -> Int {
        var rest = value
        var count = 0
        while rest >= 0x80 {
            unsafe target[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count &+= 1
            rest >>= 7
        }
        unsafe target[count] = UInt8(truncatingIfNeeded: rest)
        return count &+ 1
    }

    /// A varint field; proto3 leaves zeros out.
    @inline(__always)
    mutating func field(_ tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        byte(tag)
        varint(value)
    }

    /// A field whose number has one byte, as a rule.
    @inline(__always)
    mutating func smallField(_ tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        byte(tag)
        if value < 0x80 { return byte(UInt8(truncatingIfNeeded: value)) }
        count &+= unsafe Self.longVarint(value, at: target + count)
    }

    /// Texts of 8 to 32 bytes by two moves that may overlap, without a call of `memmove`.
    @inline(__always)
    mutating func copy(_ bytes: Span<UInt8>) {
        let destination = unsafe UnsafeMutableRawPointer(target + count)
        let byteCount = bytes.count
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            if byteCount >= 16, byteCount <= 32 {
                unsafe Self.move(start, destination, byteCount, as: SIMD2<UInt64>.self, 16)
            } else if byteCount >= 8, byteCount < 16 {
                unsafe Self.move(start, destination, byteCount, as: UInt64.self, 8)
            } else {
                unsafe destination.copyMemory(from: start, byteCount: byteCount)
            }
        }
        count &+= byteCount
    }

    /// The first and the last `width` bytes.
    @inline(__always)
    private static func move<Word: BitwiseCopyable>(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ byteCount: Int,
        as type: Word.Type, _ width: Int
    ) {
        let first = unsafe source.loadUnaligned(as: type)
        let last = unsafe source.loadUnaligned(fromByteOffset: byteCount &- width, as: type)
        unsafe target.storeBytes(of: first, as: type)
        unsafe target.storeBytes(of: last, toByteOffset: byteCount &- width, as: type)
    }

    @inline(__always)
    mutating func text(_ tag: UInt8, _ text: Span<UInt8>) {
        guard !text.isEmpty else { return }
        byte(tag)
        if text.count < 0x80 {
            byte(UInt8(truncatingIfNeeded: text.count))
        } else {
            count &+= unsafe Self.longVarint(UInt64(text.count), at: target + count)
        }
        copy(text)
    }

    /// A `CheckAccessResponse` behind its length. int32 fields take the bits of an int64, as on the
    /// wire.
    ///
    /// The length is written last: it takes one byte, as a rule. Where it takes more the rest moves
    /// on.
    @inline(__always)
    mutating func answer(
        _ answer: CheckAnswer, _ product: Span<UInt8>, _ transaction: Span<UInt8>,
        _ original: Span<UInt8>
    ) {
        let start = count
        count &+= 1
        if answer.granted {
            byte(0x08)
            byte(1)
        }
        smallField(0x10, UInt64(bitPattern: Int64(answer.reason)))
        smallField(0x18, UInt64(bitPattern: Int64(answer.ownership)))
        field(0x20, UInt64(bitPattern: answer.validUntilMilliseconds))
        text(0x2A, product)
        text(0x32, transaction)
        text(0x3A, original)
        field(0x40, answer.revision)
        let byteCount = count &- start &- 1
        if byteCount < 0x80 {
            unsafe target[start] = UInt8(truncatingIfNeeded: byteCount)
        } else {
            count &+= unsafe Self.insertLength(byteCount, before: target + start + 1)
        }
    }

    /// Writes a length of more than one byte from one byte before `content` on; the content moves
    /// on, by as many bytes as are returned.
    @inline(never)
    private static func insertLength(
        _ byteCount: Int, before content: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let moved = CheckAnswerCodec.varintByteCount(UInt64(byteCount)) &- 1
        unsafe (content + moved).update(from: content, count: byteCount)
        _ = unsafe longVarint(UInt64(byteCount), at: content - 1)
        return moved
    }
}
