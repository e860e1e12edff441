/// What a frame that answers says of its own status.
enum ReplyStatus {
    /// The number of the status in a whole frame with a `Response`.
    ///
    /// protobuf-c writes fields in the order of their numbers and leaves out what is 0: the id is
    /// field 1, the status field 2, so the first bytes say it.
    static func code(of frame: [UInt8]) -> Int {
        var rest = statusField(of: frame)
        guard rest.popFirst() == 0x10, let code = rest.first, code < 0x80 else { return 0 }
        return Int(code)
    }

    /// The reason that such a frame gives; empty where it gives none. Field 3, right behind the
    /// status.
    static func reason(of frame: [UInt8]) -> String {
        let rest = statusField(of: frame)
        guard rest.first == 0x10 else { return "" }
        let reason = rest.dropFirst(2)
        guard reason.first == 0x1A, let length = reason.dropFirst().first, length < 0x80 else {
            return ""
        }
        return String(decoding: reason.dropFirst(2).prefix(Int(length)), as: UTF8.self)
    }

    /// The customer's number in a frame with a `ForgetCustomerResponse`; 0 where there is none.
    ///
    /// Without a status the result comes next: field 35, and the number is field 1 of it.
    static func forgottenNumber(of frame: [UInt8]) -> UInt64 {
        var rest = statusField(of: frame)
        guard rest.popFirst() == 0x9A, rest.popFirst() == 0x02 else { return 0 }
        _ = varint(&rest)
        guard rest.popFirst() == 0x08 else { return 0 }
        return varint(&rest)
    }

    private static func varint(_ bytes: inout ArraySlice<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, let byte = bytes.popFirst() {
            value |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { break }
            shift += 7
        }
        return value
    }

    /// What comes behind the request's number.
    private static func statusField(of frame: [UInt8]) -> ArraySlice<UInt8> {
        var rest = frame.dropFirst(4)
        if rest.first == 0x08 {
            rest.removeFirst()
            while let byte = rest.popFirst(), byte & 0x80 != 0 {}
        }
        return rest
    }
}
