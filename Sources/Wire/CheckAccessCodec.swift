/// Reads the one message that must be fast without protobuf-c: a request that carries one check.
///
/// protobuf-c costs 350 to 400 ns of a request, this 20 to 30. It takes what every encoder writes:
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
        envelope = CheckEnvelope()
        return unsafe body.withUnsafeBufferPointer { buffer in
            var reader = unsafe FieldReader(buffer)
            return reader.envelope(&envelope)
        }
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
        return reader.check(&check, until: range.upperBound)
    }
}

/// A cursor over a frame's body. Every read is bounded by an end that the caller has checked to lie
/// within the body.
@safe struct FieldReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    var count: Int { unsafe bytes.count }

    /// Tags are compared as the bytes that they are: field number << 3 | wire type.
    mutating func envelope(_ envelope: inout CheckEnvelope) -> Bool {
        let end = count
        var seen: UInt64 = 0
        while position < end {
            guard let tag = tag(until: end, &seen) else { return false }
            switch tag {
            case 0x08:
                guard let value = varint(until: end) else { return false }
                envelope.id = value
            case 0x10:
                guard let value = varint(until: end) else { return false }
                envelope.timeoutMilliseconds = UInt32(truncatingIfNeeded: value)
            case 0x1A:
                guard let range = range(until: end) else { return false }
                envelope.traceparent = range
            case 0x22:
                guard let range = range(until: end) else { return false }
                envelope.apiKey = range
            case 0x52:
                guard let range = range(until: end) else { return false }
                position = Int(range.start)
                guard check(&envelope.check, until: range.indices.upperBound) else { return false }
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

    private mutating func customer(_ check: inout CheckFields, until end: Int) -> Bool {
        guard position < end else { return true }
        var seen: UInt64 = 0
        guard let tag = tag(until: end, &seen) else { return false }
        let kind: CheckFields.CustomerKind
        switch tag {
        case 0x0A: kind = .customerID
        case 0x12: kind = .appAccountToken
        case 0x1A: kind = .appTransactionID
        case 0x22: kind = .originalTransactionID
        default: return false
        }
        guard let range = range(until: end), position == end else { return false }
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
        guard let length = varint(until: end), length <= UInt64(end - position) else { return nil }
        let range = ByteRange(start: position, byteCount: Int(length))
        position += Int(length)
        return range
    }
}
