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
