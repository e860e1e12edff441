internal import COpenSSL

/// A SHA-256 digest, held in four words so that it is a cheap key of a dictionary.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// The number of bytes of a digest.
    package static let byteCount = 32

    /// The digest of `bytes`.
    ///
    /// - Parameter bytes: Any number of bytes.
    package init(of bytes: Span<UInt8>) {
        self.init(bigEndian: Self.rawBytes(of: bytes).span)
    }

    /// The 32 bytes of the digest of `bytes`, without an allocation.
    static func rawBytes(of bytes: Span<UInt8>) -> InlineArray<32, UInt8> {
        var digest: InlineArray<32, UInt8> = .init(repeating: 0)
        var span = digest.mutableSpan
        let done = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe span.withUnsafeMutableBufferPointer { output in
                unsafe EVP_Digest(
                    input.baseAddress, input.count, output.baseAddress, nil,
                    Algorithms.sha256.pointer, nil)
            }
        }
        precondition(done == 1, "SHA-256 of the default provider cannot fail")
        return digest
    }

    /// The digest that these 32 bytes are; nil for any other number of them.
    ///
    /// - Parameter bytes: Exactly 32 bytes.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(bigEndian: bytes)
    }

    private init(bigEndian bytes: Span<UInt8>) {
        func word(_ offset: Int) -> UInt64 {
            var value: UInt64 = 0
            for index in offset..<offset + 8 { value = value << 8 | UInt64(bytes[index]) }
            return value
        }
        first = word(0)
        second = word(8)
        third = word(16)
        fourth = word(24)
    }

    /// Whether both are the same, in a time that does not tell how much of them is.
    ///
    /// - Parameter other: What it is compared with.
    /// - Returns: The same as `==`.
    package func isEqualInConstantTime(to other: SHA256Digest) -> Bool {
        let difference =
            (first ^ other.first) | (second ^ other.second) | (third ^ other.third)
            | (fourth ^ other.fourth)
        return difference == 0
    }

    /// The 32 bytes, most significant first.
    package var bytes: [UInt8] {
        [first, second, third, fourth].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    /// 64 lower-case hexadecimal digits, as Apple prints fingerprints.
    package var description: String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] })
    }
}

/// The algorithms that are fetched once: an implicit fetch per call costs OpenSSL 3.0 about as
/// much as the hash of a short message.
enum Algorithms {
    static let sha256 = Digest("SHA256")

    /// A fetched digest. Immutable and never freed; EVP_MD_fetch(3) lets threads share it.
    @safe final class Digest: @unchecked Sendable {
        let pointer: OpaquePointer

        init(_ name: String) {
            guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else {
                preconditionFailure("the default provider of OpenSSL has no \(name)")
            }
            unsafe self.pointer = unsafe pointer
        }
    }
}
