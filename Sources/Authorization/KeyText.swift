internal import Bytes
package import OpenSSL

/// An API key as it is shown once and sent with every request: `entk_<id>_<secret><checksum>`.
///
/// The prefix lets scanners of secrets find a key that has leaked. The secret is 32 random bytes in
/// base64url (43 characters), the checksum the first four bytes of the SHA-256 of all before it in
/// base64url (6 characters): a key that was cut or mistyped is told from one that is unknown
/// without asking a server. What a server stores is the SHA-256 of the whole text, so a file of
/// keys can be made with `sha256sum` alone.
package enum KeyText {
    /// What every key begins with.
    package static let prefix = "entk_"
    /// The longest id, in bytes.
    package static let idByteCountMax = 32
    /// The longest key, in bytes: what is longer is no key, and is not hashed.
    package static let byteCountMax = 96
    /// Bytes of a secret.
    package static let secretByteCount = 32

    private static let secretCharacterCount = 43
    private static let checksumCharacterCount = 6

    /// A key with a new id and a new secret.
    ///
    /// - Parameter random: Gives so many bytes that nobody can guess.
    /// - Returns: The id of the key, which is no secret, and its text, which is.
    package static func make(_ random: (Int) -> [UInt8]) -> (id: String, text: String) {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
        let id = String(decoding: random(10).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
        return (id, text(id: id, secret: random(secretByteCount)))
    }

    /// The key of an id and a secret.
    static func text(id: String, secret: [UInt8]) -> String {
        let body = prefix + id + "_" + encoded(secret)
        return body + checksum(of: Array(body.utf8))
    }

    /// Whether `text` has the form of a key and its checksum. Says nothing about whether any server
    /// knows it.
    package static func isWellFormed(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let tailCount = secretCharacterCount + checksumCharacterCount
        guard let id = idRange(in: bytes.span), bytes.count == id.upperBound + 1 + tailCount else {
            return false
        }
        let end = bytes.count - checksumCharacterCount
        return Array(checksum(of: Array(bytes[..<end])).utf8) == Array(bytes[end...])
    }

    /// Where the id of a key stands; nil where `key` has not the form of one.
    static func idRange(in key: Span<UInt8>) -> Range<Int>? {
        let start = prefix.utf8.count
        guard key.count > start + 1, key.count <= byteCountMax else { return nil }
        for (index, byte) in prefix.utf8.enumerated() where key[index] != byte { return nil }
        var end = start
        while end < key.count, key[end] != 0x5F {
            guard isIDByte(key[end]) else { return nil }
            end += 1
        }
        guard end < key.count, 1...idByteCountMax ~= end - start else { return nil }
        return start..<end
    }

    /// Whether text can be the id of a key: 1 to 32 of a to z, 0 to 9 and `-`.
    package static func isID(_ text: String) -> Bool {
        1...idByteCountMax ~= text.utf8.count && text.utf8.allSatisfy(isIDByte)
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        0x61...0x7A ~= byte || 0x30...0x39 ~= byte || byte == 0x2D
    }

    /// What the keys file holds of a key.
    package static func digest(of text: String) -> SHA256Digest {
        SHA256Digest(of: Array(text.utf8).span)
    }

    private static func checksum(of bytes: [UInt8]) -> String {
        encoded(Array(SHA256Digest(of: bytes.span).bytes.prefix(4)))
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }
}
