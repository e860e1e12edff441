/// Base64 with the URL-safe alphabet and without padding, as in every segment of a JWS
/// (RFC 4648 section 5, RFC 7515 section 2).
///
/// Strict: no padding, no line break, no `+` or `/`. Lenient readers take those; accepting them
/// would let one message exist in several spellings.
package enum Base64URL {
    /// The bytes that `text` stands for.
    ///
    /// - Parameter text: ASCII without padding.
    /// - Returns: The decoded bytes; none for an empty text.
    /// - Throws: ``Base64Error``, at the first thing that is wrong.
    package static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        try Base64Alphabet.urlSafe.decode(text)
    }

    /// The text that stands for `bytes`, in ASCII, without padding.
    ///
    /// - Parameter bytes: Any bytes.
    /// - Returns: The encoded text.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        Base64Alphabet.urlSafe.encode(bytes)
    }
}
