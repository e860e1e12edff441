/// Text as it stands on the wire: bytes that should be UTF-8 and are judged where they are used.
///
/// Not a `String`: bytes that are no UTF-8 must be refused by reason, not repaired, and two
/// identifiers are one only when their bytes are (a `String` also compares by canonical
/// equivalence).
package struct Text: Hashable, Sendable {
    /// The bytes, a NUL among them being as good as any.
    package var bytes: [UInt8]

    /// Text of these bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// The UTF-8 bytes of `string`.
    package init(_ string: String) { bytes = Array(string.utf8) }

    /// A copy of `bytes`.
    package init(copying bytes: Span<UInt8>) {
        self.bytes = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Whether there are no bytes; proto3 cannot tell that from absent.
    package var isEmpty: Bool { bytes.isEmpty }

    /// The text, or nil when the bytes are no UTF-8.
    package var string: String? { String(validating: bytes, as: UTF8.self) }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
    /// The UTF-8 bytes of a literal.
    package init(stringLiteral value: String) { self.init(value) }

    /// For people: what is no UTF-8 shows as U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
