/// Where the body of a whole frame lies.
package enum FrameBody: Equatable, Sendable {
    /// In the bytes just received, at this range of them.
    case input(Range<Int>)
    /// In what the decoder holds, at this range of it.
    case held(Range<Int>)
}

/// Cuts a stream of bytes into frames: a 4-byte big-endian byte count N, then N bytes of body.
///
/// Pulled: `next` gives one frame after the other, so its caller can stop between any two of them.
/// Frames that lie whole in the input are never copied. What is left over is held; memory grows
/// with the bytes that have come, never with the byte count that a prefix announces.
///
/// One connection's, on that connection's thread.
package struct FrameDecoder: ~Copyable, Sendable {
    /// Bytes of the length prefix.
    package static let prefixByteCount = 4

    /// The largest body taken, in bytes.
    package let frameByteCountMax: Int
    private var held: OutputBuffer
    /// Bytes at the front of `held` that belong to a frame already given out.
    private var deliveredByteCount = 0

    /// A decoder at the start of a stream.
    package init(frameByteCountMax: Int) {
        precondition(frameByteCountMax >= 1 && frameByteCountMax <= Int(UInt32.max))
        self.frameByteCountMax = frameByteCountMax
        held = OutputBuffer(retainedByteCountMax: 4 << 10)
    }

    /// Bytes held over from earlier input and not given out yet.
    package var heldByteCount: Int { held.count - deliveredByteCount }

    /// Memory claimed for them, in bytes.
    package var heldCapacityByteCount: Int { held.capacityByteCount }

    /// The next whole frame, or nil when the bytes at hand end before it does.
    ///
    /// `position` is where `input` goes on; it moves past what was taken. After nil, either all of
    /// `input` was taken, or the caller passes the rest to `hold`.
    ///
    /// - Throws: `WireError.emptyFrame`, `.frameTooLarge`, as soon as the prefix says so. The
    ///   stream has no meaning after that.
    package mutating func next(
        in input: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> FrameBody? {
        if deliveredByteCount > 0 {
            held.consume(deliveredByteCount)
            deliveredByteCount = 0
        }
        guard held.isEmpty else { return try nextHeld(input, &position) }
        let available = input.count - position
        guard available >= Self.prefixByteCount else { return nil }
        let byteCount = try checkedByteCount(input, at: position)
        guard available - Self.prefixByteCount >= byteCount else { return nil }
        let start = position + Self.prefixByteCount
        position = start + byteCount
        return .input(start..<position)
    }

    /// Reads checks that lie whole in `input` from `position` on into `run`, and takes nothing: to
    /// take them, the caller moves its position to the end of the last one.
    ///
    /// - Returns: how many. None where bytes are held that come first, and where `next` has to
    ///   judge what comes first.
    package func gather(
        _ input: Span<UInt8>, from position: Int, into run: borrowing CheckRun
    ) -> Int {
        guard heldByteCount == 0 else { return 0 }
        return run.gather(input, from: position, frameByteCountMax: frameByteCountMax)
    }

    /// Keeps what `next` left of `input` until more comes.
    package mutating func hold(_ input: Span<UInt8>, from position: Int) {
        if deliveredByteCount > 0 {
            held.consume(deliveredByteCount)
            deliveredByteCount = 0
        }
        if position < input.count { held.append(input.extracting(position..<input.count)) }
    }

    /// The bytes of a frame that `next` just gave; `input` is what it was given.
    @_lifetime(borrow self, copy input)
    package func bytes(of body: FrameBody, in input: Span<UInt8>) -> Span<UInt8> {
        switch body {
        case .input(let range): input.extracting(range)
        case .held(let range): held.bytes.extracting(range)
        }
    }

    /// Forgets what is held: the stream ended or has no meaning any more.
    package mutating func discard() {
        deliveredByteCount = 0
        held.removeAll()
    }

    /// Completes the frame whose beginning is held, taking no more of the input than it needs.
    private mutating func nextHeld(
        _ input: Span<UInt8>, _ position: inout Int
    ) throws(WireError) -> FrameBody? {
        fill(to: Self.prefixByteCount, input, &position)
        guard held.count >= Self.prefixByteCount else { return nil }
        let byteCount = try checkedByteCount(held.bytes, at: 0)
        let wholeByteCount = Self.prefixByteCount + byteCount
        fill(to: wholeByteCount, input, &position)
        guard held.count >= wholeByteCount else { return nil }
        deliveredByteCount = wholeByteCount
        return .held(Self.prefixByteCount..<wholeByteCount)
    }

    /// Moves bytes of the input behind the held ones until there are `byteCount` of them.
    private mutating func fill(
        to byteCount: Int, _ input: Span<UInt8>, _ position: inout Int
    ) {
        let taken = min(byteCount - held.count, input.count - position)
        guard taken > 0 else { return }
        held.append(input.extracting(position..<position + taken))
        position += taken
    }

    /// The byte count that the prefix at `index` announces.
    private func checkedByteCount(
        _ bytes: Span<UInt8>, at index: Int
    ) throws(WireError) -> Int {
        let byteCount =
            Int(bytes[index]) << 24 | Int(bytes[index + 1]) << 16 | Int(bytes[index + 2]) << 8
            | Int(bytes[index + 3])
        guard byteCount > 0 else { throw .emptyFrame }
        guard byteCount <= frameByteCountMax else {
            throw .frameTooLarge(byteCount: byteCount, limit: frameByteCountMax)
        }
        return byteCount
    }
}
