/// What a frame that answers says of its own status.
enum ReplyStatus {
    /// The number of the status in a whole frame with a `Response`.
    ///
    /// protobuf-c writes fields in the order of their numbers and leaves out what is 0: the id is
    /// field 1, the status field 2, so the first bytes say it.
    static func code(of frame: [UInt8]) -> Int {
        var rest = frame.dropFirst(4)
        if rest.first == 0x08 {
            rest.removeFirst()
            while let byte = rest.popFirst(), byte & 0x80 != 0 {}
        }
        guard rest.popFirst() == 0x10, let code = rest.first, code < 0x80 else { return 0 }
        return Int(code)
    }
}
