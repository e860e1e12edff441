/// The answer to one check as the span encoder takes it; texts are passed beside it.
package struct CheckAnswer: Equatable, Sendable {
    /// Yes or no.
    package var granted: Bool
    /// The number of the `Reason`.
    package var reason: Int32
    /// The number of the `Ownership`.
    package var ownership: Int32
    /// When `granted` flips by itself, in milliseconds since 1970; 0 = never.
    package var validUntilMilliseconds: Int64
    /// The last committed revision that the answer has seen.
    package var revision: UInt64

    /// An answer.
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
        let innerByteCount = byteCount(answer, product, transaction, original)
        let bodyByteCount =
            (id == 0 ? 0 : 1 + varintByteCount(id)) + 1
            + varintByteCount(UInt64(innerByteCount)) + innerByteCount
        unsafe output.write(upTo: FrameDecoder.prefixByteCount + bodyByteCount) { target in
            var writer = unsafe FieldWriter(target)
            writer.bigEndian(UInt32(bodyByteCount))
            writer.field(0x08, id)
            writer.byte(0x52)
            writer.varint(UInt64(innerByteCount))
            writer.answer(answer, product, transaction, original)
            return writer.count
        }
    }

    /// Appends one result of a batch, as a field of `CheckAccessBatchResponse`.
    package static func appendResult(
        _ answer: CheckAnswer, product: Span<UInt8>, transaction: Span<UInt8>,
        original: Span<UInt8>, to output: inout OutputBuffer
    ) {
        let innerByteCount = byteCount(answer, product, transaction, original)
        let fieldByteCount = 1 + varintByteCount(UInt64(innerByteCount)) + innerByteCount
        unsafe output.write(upTo: fieldByteCount) { target in
            var writer = unsafe FieldWriter(target)
            writer.byte(0x0A)
            writer.varint(UInt64(innerByteCount))
            writer.answer(answer, product, transaction, original)
            return writer.count
        }
    }

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
        unsafe output.write(upTo: FrameDecoder.prefixByteCount + bodyByteCount) { target in
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

    private static func byteCount(
        _ answer: CheckAnswer, _ product: Span<UInt8>, _ transaction: Span<UInt8>,
        _ original: Span<UInt8>
    ) -> Int {
        (answer.granted ? 2 : 0) + fieldByteCount(UInt64(bitPattern: Int64(answer.reason)))
            + fieldByteCount(UInt64(bitPattern: Int64(answer.ownership)))
            + fieldByteCount(UInt64(bitPattern: answer.validUntilMilliseconds))
            + textByteCount(product) + textByteCount(transaction) + textByteCount(original)
            + fieldByteCount(answer.revision)
    }

    private static func fieldByteCount(_ value: UInt64) -> Int {
        value == 0 ? 0 : 1 + varintByteCount(value)
    }

    private static func textByteCount(_ text: Span<UInt8>) -> Int {
        let count = text.count
        return count == 0 ? 0 : 1 + varintByteCount(UInt64(count)) + count
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
        count += 1
    }

    mutating func bigEndian(_ value: UInt32) {
        byte(UInt8(truncatingIfNeeded: value >> 24))
        byte(UInt8(truncatingIfNeeded: value >> 16))
        byte(UInt8(truncatingIfNeeded: value >> 8))
        byte(UInt8(truncatingIfNeeded: value))
    }

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    /// A varint field; proto3 leaves zeros out.
    @inline(__always)
    mutating func field(_ tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        byte(tag)
        varint(value)
    }

    @inline(__always)
    mutating func copy(_ bytes: Span<UInt8>) {
        let destination = unsafe target + count
        let byteCount = bytes.count
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let address = source.baseAddress else { return }
            unsafe destination.update(from: address, count: byteCount)
        }
        count += byteCount
    }

    @inline(__always)
    mutating func text(_ tag: UInt8, _ text: Span<UInt8>) {
        guard !text.isEmpty else { return }
        byte(tag)
        varint(UInt64(text.count))
        copy(text)
    }

    /// The fields of `CheckAccessResponse`. int32 fields take the bits of an int64, as on the wire.
    mutating func answer(
        _ answer: CheckAnswer, _ product: Span<UInt8>, _ transaction: Span<UInt8>,
        _ original: Span<UInt8>
    ) {
        field(0x08, answer.granted ? 1 : 0)
        field(0x10, UInt64(bitPattern: Int64(answer.reason)))
        field(0x18, UInt64(bitPattern: Int64(answer.ownership)))
        field(0x20, UInt64(bitPattern: answer.validUntilMilliseconds))
        text(0x2A, product)
        text(0x32, transaction)
        text(0x3A, original)
        field(0x40, answer.revision)
    }
}
