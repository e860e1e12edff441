internal import CMessages
internal import CProtobufC

/// Whether bytes are a well-formed message, told before protobuf-c sees them.
///
/// protobuf-c 1.4.1 takes some malformed messages (a tag of six bytes, a field number of 0) and
/// gives NULL both for a malformed message and for one that does not fit its allocator. After this
/// check NULL has one meaning. Refused: field number 0; wire types 3 and 4 (groups, which proto3
/// does not have), 6 and 7; tags over 5 bytes or over field number 2^29 - 1; varints over 10 bytes,
/// lengths over 5; fields and lengths that end past their message; a known field with another wire
/// type than its own. Taken: unknown fields of the wire types 0, 1, 2 and 5, whatever their bytes.
/// See: https://protobuf.dev/programming-guides/encoding/
@safe struct MessageCheck {
    /// Messages within messages; the contract nests four deep and is not recursive.
    private static let depthMax = 8
    private static let tagByteCountMax = 5
    private static let varintByteCountMax = 10
    /// Of a length: protobuf-c reads no more.
    static let lengthByteCountMax = 5

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// The last varint of field 1 of the outermost message: the id of a Request or Response.
    private(set) var envelopeID: UInt64 = 0

    /// Checks all of `bytes` against `descriptor`.
    ///
    /// - Returns: the id in the envelope.
    /// - Throws: `WireError.malformedMessage`.
    static func check(
        _ bytes: Span<UInt8>, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    ) throws(WireError) -> UInt64 {
        let (offset, id): (Int?, UInt64) = unsafe bytes.withUnsafeBufferPointer { buffer in
            var check = unsafe MessageCheck(bytes: buffer)
            let isWellFormed = unsafe check.message(until: buffer.count, descriptor, depth: 0)
            return (isWellFormed ? nil : check.position, check.envelopeID)
        }
        if let offset { throw .malformedMessage(offset: offset) }
        return id
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    /// Reads fields until `end`; false at the first one that breaks a rule.
    private mutating func message(
        until end: Int, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>?, depth: Int
    ) -> Bool {
        guard depth < Self.depthMax else { return false }
        while position < end {
            guard let tag = tag(until: end) else { return false }
            let field: UnsafePointer<ProtobufCFieldDescriptor>? =
                if let descriptor = unsafe descriptor {
                    unsafe protobuf_c_message_descriptor_get_field(descriptor, tag.number)
                } else {
                    nil
                }
            if let field = unsafe field {
                guard unsafe Self.wireType(of: field) == tag.wireType else { return false }
            }
            guard unsafe value(tag, field, until: end, depth: depth) else { return false }
        }
        return position == end
    }

    /// Reads one field's value.
    private mutating func value(
        _ tag: (number: UInt32, wireType: UInt8), _ field: UnsafePointer<ProtobufCFieldDescriptor>?,
        until end: Int, depth: Int
    ) -> Bool {
        switch tag.wireType {
        case 0:
            guard let value = varint(until: end, byteCountMax: Self.varintByteCountMax) else {
                return false
            }
            if depth == 0, tag.number == 1 { envelopeID = value }
            return true
        case 1:
            return skip(8, until: end)
        case 5:
            return skip(4, until: end)
        case 2:
            guard let length = varint(until: end, byteCountMax: Self.lengthByteCountMax),
                length <= UInt64(end - position)
            else { return false }
            let valueEnd = position + Int(length)
            if let field = unsafe field, unsafe field.pointee.type == PROTOBUF_C_TYPE_MESSAGE {
                let inner = unsafe field.pointee.descriptor?
                    .assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
                return unsafe message(until: valueEnd, inner, depth: depth + 1)
            }
            position = valueEnd
            return true
        default:
            return false
        }
    }

    /// Reads a field's number and wire type.
    private mutating func tag(until end: Int) -> (number: UInt32, wireType: UInt8)? {
        guard let value = varint(until: end, byteCountMax: Self.tagByteCountMax),
            value <= UInt64(UInt32.max), value >> 3 != 0
        else { return nil }
        return (UInt32(value >> 3), UInt8(value & 7))
    }

    /// Reads a varint; bits beyond the 64th are dropped, as protobuf's parsers do.
    private mutating func varint(until end: Int, byteCountMax: Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<byteCountMax {
            guard position < end else { return nil }
            let byte = unsafe bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func skip(_ byteCount: Int, until end: Int) -> Bool {
        guard end - position >= byteCount else { return false }
        position += byteCount
        return true
    }

    /// The wire type that a field of the contract has.
    private static func wireType(of field: UnsafePointer<ProtobufCFieldDescriptor>) -> UInt8 {
        switch unsafe field.pointee.type {
        case PROTOBUF_C_TYPE_MESSAGE, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_STRING: 2
        case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: 5
        case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: 1
        default: 0
        }
    }
}

/// The generated descriptors of the two envelopes.
enum EnvelopeDescriptor {
    /// `nonisolated(unsafe)`: points to a constant of the generated C code.
    nonisolated(unsafe) static let request: UnsafePointer<ProtobufCMessageDescriptor> = {
        var message = unsafe Entitled__V1__Request()
        unsafe entitled__v1__request__init(&message)
        return unsafe message.base.descriptor
    }()

    /// `nonisolated(unsafe)`: points to a constant of the generated C code.
    nonisolated(unsafe) static let response: UnsafePointer<ProtobufCMessageDescriptor> = {
        var message = unsafe Entitled__V1__Response()
        unsafe entitled__v1__response__init(&message)
        return unsafe message.base.descriptor
    }()
}
