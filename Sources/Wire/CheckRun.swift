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
        /// What keeps its check from being asked, but for its scope and for who calls.
        package var fault: CheckFault
        /// The caller's key, not judged; empty = none. Of the input.
        package var apiKey = ByteRange.empty
        /// Whether its key is, byte for byte, that of the frame before in this run.
        package var hasKeyOfPrevious = false
    }

    /// How many checks are taken together: enough that what is done once for all of them costs each
    /// next to nothing, few enough that they stay in a first-level cache.
    package static let countMax = 32

    private let frameBase: UnsafeMutablePointer<Frame>
    private let checkBase: UnsafeMutablePointer<CheckFields>

    /// Room for `countMax` checks.
    package init() {
        unsafe frameBase = .allocate(capacity: Self.countMax)
        unsafe frameBase.initialize(
            repeating: Frame(requestID: 0, start: 0, end: 0, fault: .none), count: Self.countMax)
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

    /// Reads and judges whole frames of `input` from `position` on, as long as each carries one
    /// check that `CheckAccessCodec` takes and its byte count is allowed.
    ///
    /// - Returns: how many there are, at most `countMax`. What comes then is for others to judge.
    borrowing func gather(
        _ input: Span<UInt8>, from position: Int, frameByteCountMax: Int
    ) -> Int {
        unsafe input.withUnsafeBufferPointer { bytes in
            var count = 0
            var start = position
            var isUsual = false
            while count < Self.countMax, bytes.count &- start > FrameDecoder.prefixByteCount {
                let prefix = unsafe UnsafeRawBufferPointer(bytes)
                    .loadUnaligned(fromByteOffset: start, as: UInt32.self)
                let byteCount = Int(UInt32(bigEndian: prefix))
                let body = start &+ FrameDecoder.prefixByteCount
                guard byteCount > 0, byteCount <= frameByteCountMax,
                    byteCount <= bytes.count &- body
                else { break }
                unsafe frameBase[count].start = start
                unsafe frameBase[count].end = body &+ byteCount
                let isLikePrevious = unsafe isUsual && takeLikePrevious(count, bytes)
                if !isLikePrevious {
                    guard unsafe take(count, bytes, &isUsual) else { break }
                }
                count &+= 1
                start = body &+ byteCount
            }
            return count
        }
    }

    /// Reads and judges the check of the frame at `index`; false where others must do it. On return
    /// `isUsual` says whether its fields come in the usual order.
    private borrowing func take(
        _ index: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ isUsual: inout Bool
    ) -> Bool {
        let frame = unsafe frameBase + index
        let check = unsafe checkBase + index
        let range = unsafe frame.pointee.start &+ FrameDecoder.prefixByteCount..<frame.pointee.end
        var head = RequestHead()
        unsafe check.pointee = CheckFields()
        guard
            unsafe CheckAccessCodec.decode(bytes, at: range, &head, &check.pointee, &isUsual)
        else { return false }
        unsafe frame.pointee.requestID = head.id
        unsafe frame.pointee.apiKey = head.apiKey
        unsafe frame.pointee.hasKeyOfPrevious = false
        unsafe frame.pointee.fault = check.pointee.fault(in: UnsafeRawBufferPointer(bytes))
        return true
    }

    /// Reads the check of the frame at `index` where it differs from the one before, which is in
    /// the usual order, in nothing but the number of the request and the bytes of the names; false
    /// where it may differ in more. What stands between the number and the call (a timeout, a
    /// trace, the caller's key) is compared like all else, so the key is the same.
    ///
    /// A client writes one request like the other: then all tags and lengths are where they were,
    /// and to see that they are the same takes a third of the time of reading them.
    @inline(__always)
    private borrowing func takeLikePrevious(
        _ index: Int, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let (frame, known) = unsafe (frameBase + index, frameBase + (index &- 1))
        let check = unsafe checkBase[index &- 1]
        let (start, knownStart) = unsafe (frame.pointee.start, known.pointee.start)
        let customer = Int(check.customer.start) &- knownStart
        let customerEnd = customer &+ Int(check.customer.byteCount)
        let subject = Int(check.subject.start) &- knownStart
        let subjectEnd = subject &+ Int(check.subject.byteCount)
        guard unsafe frame.pointee.end &- start == known.pointee.end &- knownStart,
            check.customerKind != .none, check.subjectKind != .none,
            subject == customerEnd &+ 2, let base = bytes.baseAddress
        else { return false }
        let (one, other) = unsafe (
            UnsafeRawPointer(base + start), UnsafeRawPointer(base + knownStart)
        )
        // The call's tag and length, the customer's, and the name's: six bytes before the name.
        // Where lengths take more than a byte, the first of the six is no tag of a call.
        let call = customer &- 6
        guard unsafe one.load(fromByteOffset: 4, as: UInt8.self) == 0x08,
            unsafe one.load(fromByteOffset: call, as: UInt8.self) == 0x52,
            unsafe Self.areSame(one, other, call, as: UInt32.self),
            unsafe Self.areSame(one, other, call &+ 2, as: UInt32.self),
            unsafe Self.areSame(one, other, customerEnd, as: UInt16.self),
            unsafe Self.areSame(
                one, other, from: subjectEnd, to: frame.pointee.end &- start)
        else { return false }
        var reader = unsafe FieldReader(bytes)
        reader.position = start &+ 5
        guard unsafe reader.takeVarint(&frame.pointee.requestID, until: start &+ call) else {
            return false
        }
        let head = reader.position &- start
        var apiKey = ByteRange.empty
        if head < call {
            guard unsafe Self.haveSameHead(one, other, from: head, to: call) else { return false }
            unsafe apiKey = known.pointee.apiKey
            if apiKey.byteCount > 0 {
                apiKey.start &+= UInt32(truncatingIfNeeded: start &- knownStart)
            }
        }
        unsafe frame.pointee.apiKey = apiKey
        unsafe frame.pointee.hasKeyOfPrevious = apiKey.byteCount == known.pointee.apiKey.byteCount
        unsafe move(check, by: start &- knownStart, to: index, in: bytes)
        return true
    }

    /// Whether what stands between a request's number, which ends at `start`, and its call at `end`
    /// is the same in both frames. The one before was read in the usual order and its call begins
    /// at `end` too: so where its number ends at `start` as well, the same bytes are the same
    /// fields.
    @inline(__always)
    private static func haveSameHead(
        _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, from start: Int, to end: Int
    ) -> Bool {
        unsafe other.load(fromByteOffset: 4, as: UInt8.self) == 0x08
            && varintEnd(other, from: 5) == start && areSame(one, other, from: start, to: end)
    }

    /// Behind the varint at `offset`, which was read before and is whole.
    @inline(__always)
    private static func varintEnd(_ base: UnsafeRawPointer, from offset: Int) -> Int {
        var offset = offset
        while unsafe base.load(fromByteOffset: offset, as: UInt8.self) >= 0x80 { offset &+= 1 }
        return offset &+ 1
    }

    /// Puts down a check like one that lies `distance` bytes before it, and judges its names.
    @inline(__always)
    private borrowing func move(
        _ check: CheckFields, by distance: Int, to index: Int,
        in bytes: UnsafeBufferPointer<UInt8>
    ) {
        let distance = UInt32(truncatingIfNeeded: distance)
        var check = check
        check.customer.start &+= distance
        check.subject.start &+= distance
        if check.bundleID.start > 0 { check.bundleID.start &+= distance }
        unsafe checkBase[index] = check
        unsafe frameBase[index].fault = check.fault(in: UnsafeRawBufferPointer(bytes))
    }

    @inline(__always)
    private static func areSame<Word: BitwiseCopyable & Equatable>(
        _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ offset: Int, as type: Word.Type
    ) -> Bool {
        unsafe one.loadUnaligned(fromByteOffset: offset, as: type)
            == other.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// Whether the bytes from `start` to before `end` are the same: eight at a time, the last eight
    /// again with some that came before, which lie in the frame as well.
    @inline(__always)
    private static func areSame(
        _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, from start: Int, to end: Int
    ) -> Bool {
        var offset = start
        while offset &+ 8 <= end {
            guard unsafe areSame(one, other, offset, as: UInt64.self) else { return false }
            offset &+= 8
        }
        if offset == end { return true }
        guard end &- start >= 8 else {
            while offset < end {
                guard unsafe areSame(one, other, offset, as: UInt8.self) else { return false }
                offset &+= 1
            }
            return true
        }
        return unsafe areSame(one, other, end &- 8, as: UInt64.self)
    }
}
