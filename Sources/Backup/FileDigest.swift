internal import OpenSSL
internal import RocksDB

/// The size and the SHA-256 of a file, as it was read.
struct FileDigest: Hashable, Sendable {
    /// Bytes.
    let size: UInt64
    /// 64 lower-case hexadecimal digits.
    let sha256: String

    /// Bytes read in one piece.
    private static let pieceByteCount = 1 << 20

    /// Reads the regular file at `path`; nil where `onPiece` has said that it is enough.
    ///
    /// - Throws: what reading or `onPiece` throws.
    init?(
        of path: String, onPiece: ([UInt8]) throws(FileError) -> Bool
    ) throws(FileError) {
        var size: UInt64 = 0
        var digest = SHA256Stream()
        var reading = try FileReading(path)
        while true {
            let piece = try reading.next(byteCountMax: Self.pieceByteCount)
            if piece.isEmpty { break }
            guard try onPiece(piece) else { return nil }
            digest.update(piece)
            size += UInt64(piece.count)
        }
        self.size = size
        sha256 = "\(digest.finish())"
    }
}
