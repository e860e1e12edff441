/// Checks that stand one after the other in what was received, read and not answered yet.
///
/// Answering takes them together, step by step: so the memory that one check waits for comes close
/// while the others are worked on. Plain memory, made once: nothing is allocated or counted per
/// check, and what the steps read is read through spans.
///
/// One thread at a time, as its owner. `@unchecked Sendable`: the memory has one owner, this value,
/// which cannot be copied.
@safe package struct CheckRun: ~Copyable, @unchecked Sendable {
    /// A request around a check.
    package struct Frame: Sendable, BitwiseCopyable {
        /// Chosen by the client.
        package var requestID: UInt64
        /// Where its prefix begins.
        package var start: Int
        /// Where its body ends.
        package var end: Int
    }

    /// How many checks are taken together. At 32 what they touch, 20 KiB with frames and answers,
    /// stays in a first-level cache of 32 KiB; 16 hide less of the memory's latency.
    package static let countMax = 32

    private let frameBase: UnsafeMutablePointer<Frame>
    private let checkBase: UnsafeMutablePointer<CheckFields>

    /// Room for `countMax` checks.
    package init() {
        unsafe frameBase = .allocate(capacity: Self.countMax)
        unsafe frameBase.initialize(
            repeating: Frame(requestID: 0, start: 0, end: 0), count: Self.countMax)
        unsafe checkBase = .allocate(capacity: Self.countMax)
        unsafe checkBase.initialize(repeating: CheckFields(), count: Self.countMax)
    }

    deinit {
        unsafe frameBase.deallocate()
        unsafe checkBase.deallocate()
    }

    /// All places for frames; those are meant of which `gather` gave the count.
    package var frames: Span<Frame> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(_unsafeStart: frameBase, count: Self.countMax)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// All places for checks, in the order of `frames`. Their ranges are of the input.
    package var checks: Span<CheckFields> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(_unsafeStart: checkBase, count: Self.countMax)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Reads whole frames of `input` from `position` on, as long as each carries one check that
    /// `CheckAccessCodec` takes and its byte count is allowed.
    ///
    /// - Returns: how many there are, at most `countMax`. What comes then is for others to judge.
    borrowing func gather(
        _ input: Span<UInt8>, from position: Int, frameByteCountMax: Int
    ) -> Int {
        unsafe input.withUnsafeBufferPointer { bytes in
            var count = 0
            var start = position
            while count < Self.countMax, bytes.count &- start > FrameDecoder.prefixByteCount {
                let prefix = unsafe UnsafeRawBufferPointer(bytes)
                    .loadUnaligned(fromByteOffset: start, as: UInt32.self)
                let byteCount = Int(UInt32(bigEndian: prefix))
                let body = start &+ FrameDecoder.prefixByteCount
                guard byteCount > 0, byteCount <= frameByteCountMax,
                    byteCount <= bytes.count &- body
                else { break }
                let end = body &+ byteCount
                var head = RequestHead()
                unsafe checkBase[count] = CheckFields()
                guard
                    unsafe CheckAccessCodec.decode(
                        bytes, at: body..<end, &head, &checkBase[count])
                else { break }
                unsafe frameBase[count] = Frame(requestID: head.id, start: start, end: end)
                count &+= 1
                start = end
            }
            return count
        }
    }
}
