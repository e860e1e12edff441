/// A message read by nothing but the rules of the encoding: which field numbers hold what.
///
/// Written apart from the codecs, so that a field that is written to the wrong number, and read
/// from there again, is found.
struct RawMessage: Equatable {
    /// A field's value.
    enum Value: Equatable {
        case number(UInt64)
        case bytes([UInt8])
    }

    /// All values, in order, by field number.
    var fields: [UInt64: [Value]] = [:]

    /// Reads all of `bytes`; nil where they are no message of varints and bytes.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let tag = Self.varint(&rest), let value = Self.varint(&rest) else { return nil }
            switch tag & 7 {
            case 0:
                fields[tag >> 3, default: []].append(.number(value))
            case 2:
                guard value <= rest.count else { return nil }
                fields[tag >> 3, default: []].append(.bytes(Array(rest.prefix(Int(value)))))
                rest.removeFirst(Int(value))
            default:
                return nil
            }
        }
    }

    /// The only value of field `number` as a message.
    func message(_ number: UInt64) -> RawMessage? {
        guard case .bytes(let bytes) = fields[number]?.first else { return nil }
        return RawMessage(bytes)
    }

    /// Field numbers and values of the first occurrence, numbers and texts as text.
    var texts: [UInt64: String] {
        fields.compactMapValues { values in
            switch values.first {
            case .number(let number): String(Int64(bitPattern: number))
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case nil: nil
            }
        }
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
