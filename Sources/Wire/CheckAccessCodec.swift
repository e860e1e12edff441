/// Reads the one message that must be fast without protobuf-c: a request that carries one check.
///
/// protobuf-c costs 350 to 400 ns of a request, this some 50. It takes what every encoder writes:
/// known fields, each at most once, in any order, one member of each oneof. All else (a field
/// twice, an unknown field, a tag of two bytes, another call, anything malformed) gives false, and
/// protobuf-c decides; so this never decides what a strange message means.
///
/// Nothing is allocated; texts are ranges into the body and are not judged.
package enum CheckAccessCodec {
    /// Reads `body` into `envelope`.
    ///
    /// - Returns: false when the general path must decide; `envelope` means nothing then.
    package static func decode(_ body: Span<UInt8>, into envelope: inout CheckEnvelope) -> Bool {
        var head = RequestHead()
        envelope.check = CheckFields()
        var isUsual = false
        let isTaken = unsafe body.withUnsafeBufferPointer { buffer in
            unsafe decode(buffer, at: 0..<buffer.count, &head, &envelope.check, &isUsual)
        }
        envelope.id = head.id
        envelope.timeoutMilliseconds = head.timeoutMilliseconds
        envelope.traceparent = head.traceparent
        envelope.apiKey = head.apiKey
        return isTaken
    }

    /// Reads the request that stands at `range` of `bytes`: its check into `check`, the rest into
    /// `head`. Both are empty before. `isUsual`: whether they come in that order.
    ///
    /// The order in which encoders write is tried first: its fields are read without a loop, so
    /// that the processor foretells the branches.
    @inline(__always)
    static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, at range: Range<Int>, _ head: inout RequestHead,
        _ check: inout CheckFields, _ isUsual: inout Bool
    ) -> Bool {
        var reader = unsafe FieldReader(bytes)
        reader.position = range.lowerBound
        isUsual = reader.usualRequest(&head, &check, until: range.upperBound)
        if isUsual { return true }
        head = RequestHead()
        check = CheckFields()
        reader.position = range.lowerBound
        return reader.request(&head, &check, until: range.upperBound)
    }

    /// Reads a check that stands at `range` of `body` into `check`.
    ///
    /// - Returns: false when the general path must decide; `check` means nothing then.
    static func decodeCheck(
        _ body: UnsafeBufferPointer<UInt8>, at range: Range<Int>, into check: inout CheckFields
    ) -> Bool {
        check = CheckFields()
        var reader = unsafe FieldReader(body)
        reader.position = range.lowerBound
        if reader.usualCheck(&check, until: range.upperBound) { return true }
        check = CheckFields()
        reader.position = range.lowerBound
        return reader.check(&check, until: range.upperBound)
    }
}

/// What a request carries beside its call.
struct RequestHead {
    var id: UInt64 = 0
    var timeoutMilliseconds: UInt32 = 0
    var traceparent = ByteRange.empty
    var apiKey = ByteRange.empty
}

/// A cursor over bytes that were received. Every read is bounded by an end that the caller has
/// checked to lie within them.
@safe struct FieldReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    var count: Int { unsafe bytes.count }

    /// Tags are compared as the bytes that they are: field number << 3 | wire type.
    mutating func request(
        _ head: inout RequestHead, _ check: inout CheckFields, until end: Int
    ) -> Bool {
        var seen: UInt64 = 0
        while position < end {
            guard let tag = tag(until: end, &seen) else { return false }
            switch tag {
            case 0x08:
                guard let value = varint(until: end) else { return false }
                head.id = value
            case 0x10:
                guard let value = varint(until: end) else { return false }
                head.timeoutMilliseconds = UInt32(truncatingIfNeeded: value)
            case 0x1A:
                guard let range = range(until: end) else { return false }
                head.traceparent = range
            case 0x22:
                guard let range = range(until: end) else { return false }
                head.apiKey = range
            case 0x52:
                guard let range = range(until: end) else { return false }
                position = Int(range.start)
                guard self.check(&check, until: range.indices.upperBound) else { return false }
            default:
                return false
            }
        }
        return seen & Self.bit(0x52) != 0
    }

    mutating func check(_ check: inout CheckFields, until end: Int) -> Bool {
        var seen: UInt64 = 0
        while position < end {
            guard let tag = tag(until: end, &seen) else { return false }
            switch tag {
            case 0x0A:
                guard let range = range(until: end) else { return false }
                position = Int(range.start)
                guard customer(&check, until: range.indices.upperBound) else { return false }
            case 0x12, 0x1A:
                guard check.subjectKind == .none, let range = range(until: end) else {
                    return false
                }
                check.subjectKind = tag == 0x12 ? .product : .entitlement
                check.subject = range
            case 0x20:
                guard let value = varint(until: end) else { return false }
                check.atMilliseconds = Int64(bitPattern: value)
            case 0x28:
                guard let value = varint(until: end) else { return false }
                check.minRevision = value
            case 0x32:
                guard let range = range(until: end) else { return false }
                position = Int(range.start)
                guard scope(&check, until: range.indices.upperBound) else { return false }
            case 0x38:
                guard let value = varint(until: end) else { return false }
                check.units = value
            default:
                return false
            }
        }
        return true
    }

    @inline(__always)
    private mutating func customer(_ check: inout CheckFields, until end: Int) -> Bool {
        guard position < end else { return true }
        var seen: UInt64 = 0
        guard let tag = tag(until: end, &seen), let kind = CheckFields.CustomerKind(fieldTag: tag),
            let range = range(until: end), position == end
        else { return false }
        check.customerKind = kind
        check.customer = range
        return true
    }

    private mutating func scope(_ check: inout CheckFields, until end: Int) -> Bool {
        var seen: UInt64 = 0
        while position < end {
            guard let tag = tag(until: end, &seen) else { return false }
            switch tag {
            case 0x0A:
                guard let range = range(until: end) else { return false }
                check.bundleID = range
            case 0x10:
                guard let value = varint(until: end) else { return false }
                check.environment = Int32(truncatingIfNeeded: value)
            default:
                return false
            }
        }
        return true
    }
}

// MARK: - The usual order

extension FieldReader {
    /// The same as `request` for fields in the order of their numbers, the call being the last, and
    /// for texts of less than 128 bytes; false for all else, which `request` may still take.
    @inline(__always)
    mutating func usualRequest(
        _ head: inout RequestHead, _ check: inout CheckFields, until end: Int
    ) -> Bool {
        if isNext(0x08, until: end), !takeVarint(&head.id, until: end) { return false }
        if isNext(0x10, until: end) {
            var value: UInt64 = 0
            guard takeVarint(&value, until: end) else { return false }
            head.timeoutMilliseconds = UInt32(truncatingIfNeeded: value)
        }
        if isNext(0x1A, until: end), !takeText(&head.traceparent, until: end) { return false }
        if isNext(0x22, until: end), !takeText(&head.apiKey, until: end) { return false }
        guard isNext(0x52, until: end), let length = length(until: end),
            length == end &- position
        else { return false }
        return usualCheck(&check, until: end)
    }

    /// The same as `check` for fields in the order of their numbers and texts of less than 128
    /// bytes; false for all else.
    @inline(__always)
    mutating func usualCheck(_ check: inout CheckFields, until end: Int) -> Bool {
        if isNext(0x0A, until: end) {
            guard takeCustomer(&check, until: end) else { return false }
        }
        if isNext(0x12, until: end) {
            check.subjectKind = .product
            guard takeText(&check.subject, until: end) else { return false }
        } else if isNext(0x1A, until: end) {
            check.subjectKind = .entitlement
            guard takeText(&check.subject, until: end) else { return false }
        }
        if position == end { return true }
        return usualRest(&check, until: end)
    }

    /// The fields that many checks have not, and the scope, which is the last of most.
    @inline(__always)
    private mutating func usualRest(_ check: inout CheckFields, until end: Int) -> Bool {
        if isNext(0x20, until: end) {
            var value: UInt64 = 0
            guard takeVarint(&value, until: end) else { return false }
            check.atMilliseconds = Int64(bitPattern: value)
        }
        if isNext(0x28, until: end), !takeVarint(&check.minRevision, until: end) { return false }
        if isNext(0x32, until: end) {
            guard takeScope(&check, until: end) else { return false }
        }
        if isNext(0x38, until: end), !takeVarint(&check.units, until: end) { return false }
        return position == end
    }

    /// A customer by one name, or by none.
    @inline(__always)
    private mutating func takeCustomer(_ check: inout CheckFields, until end: Int) -> Bool {
        guard position < end else { return false }
        let innerEnd = position &+ 1 &+ Int(unsafe bytes[position])
        guard unsafe bytes[position] < 0x80, innerEnd <= end else { return false }
        position &+= 1
        guard position < innerEnd else { return true }
        let tag = unsafe bytes[position]
        guard let kind = CheckFields.CustomerKind(fieldTag: tag) else { return false }
        position &+= 1
        check.customerKind = kind
        return takeText(&check.customer, until: innerEnd) && position == innerEnd
    }

    @inline(__always)
    private mutating func takeScope(_ check: inout CheckFields, until end: Int) -> Bool {
        guard position < end else { return false }
        let innerEnd = position &+ 1 &+ Int(unsafe bytes[position])
        guard unsafe bytes[position] < 0x80, innerEnd <= end else { return false }
        position &+= 1
        if isNext(0x0A, until: innerEnd), !takeText(&check.bundleID, until: innerEnd) {
            return false
        }
        if isNext(0x10, until: innerEnd) {
            var value: UInt64 = 0
            guard takeVarint(&value, until: innerEnd) else { return false }
            check.environment = Int32(truncatingIfNeeded: value)
        }
        return position == innerEnd
    }

    /// Whether the next byte is this tag; then the cursor moves past it.
    @inline(__always)
    private mutating func isNext(_ tag: UInt8, until end: Int) -> Bool {
        guard position < end, unsafe bytes[position] == tag else { return false }
        position &+= 1
        return true
    }

    /// A text of less than 128 bytes that ends before `end`; the cursor moves past it.
    @inline(__always)
    private mutating func takeText(_ range: inout ByteRange, until end: Int) -> Bool {
        guard position < end else { return false }
        let byteCount = unsafe bytes[position]
        position &+= 1
        guard byteCount < 0x80, Int(byteCount) <= end &- position else { return false }
        range.start = UInt32(truncatingIfNeeded: position)
        range.byteCount = UInt32(byteCount)
        position &+= Int(byteCount)
        return true
    }

    /// A varint of up to eight bytes, all of them read at once; longer ones, and the last bytes of
    /// what was received, one by one.
    @inline(__always)
    mutating func takeVarint(_ value: inout UInt64, until end: Int) -> Bool {
        if position &+ 8 <= count {
            let word = unsafe UInt64(
                littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(
                    fromByteOffset: position, as: UInt64.self))
            let ends = ~word & 0x8080_8080_8080_8080
            let byteCount = ends.trailingZeroBitCount &>> 3 &+ 1
            if ends != 0, byteCount <= end &- position {
                value = Self.joined(word & (ends ^ (ends &- 1)))
                position &+= byteCount
                return true
            }
        }
        guard let read = varint(until: end) else { return false }
        value = read
        return true
    }

    /// The number in the lower seven bits of each byte.
    @inline(__always)
    private static func joined(_ word: UInt64) -> UInt64 {
        var value = word & 0x7F_007F_007F_007F | (word & 0x7F00_7F00_7F00_7F00) &>> 1
        value = value & 0x3FFF_0000_3FFF | (value & 0x3FFF_0000_3FFF_0000) &>> 2
        return value & 0xFFF_FFFF | (value & 0xFFF_FFFF_0000_0000) &>> 4
    }
}

extension FieldReader {
    /// One bit per field number of a one-byte tag.
    static func bit(_ tag: UInt8) -> UInt64 { 1 << UInt64(tag >> 3) }

    /// A one-byte tag whose field was not seen yet; nil for all else.
    @inline(__always)
    mutating func tag(until end: Int, _ seen: inout UInt64) -> UInt8? {
        let byte = unsafe bytes[position]
        position += 1
        guard byte < 0x80, seen & Self.bit(byte) == 0 else { return nil }
        seen |= Self.bit(byte)
        return byte
    }

    /// A varint of up to 10 bytes; bits beyond the 64th are dropped.
    @inline(__always)
    mutating func varint(until end: Int) -> UInt64? {
        guard position < end else { return nil }
        let first = unsafe bytes[position]
        position += 1
        if first < 0x80 { return UInt64(first) }
        return longVarint(UInt64(first & 0x7F), until: end)
    }

    private mutating func longVarint(_ first: UInt64, until end: Int) -> UInt64? {
        var value = first
        var shift: UInt64 = 7
        while shift < 70 {
            guard position < end else { return nil }
            let byte = unsafe bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// The bytes behind a length that lie before `end`; the cursor moves past them.
    @inline(__always)
    mutating func range(until end: Int) -> ByteRange? {
        guard let length = length(until: end) else { return nil }
        let range = ByteRange(start: position, byteCount: length)
        position += length
        return range
    }

    /// A length of bytes that end before `end`, in as few bytes as protobuf-c reads.
    @inline(__always)
    mutating func length(until end: Int) -> Int? {
        let start = position
        guard let length = varint(until: end), length <= UInt64(end - position),
            position - start <= MessageCheck.lengthByteCountMax
        else { return nil }
        return Int(length)
    }
}
