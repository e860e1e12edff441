#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A number on disk that only grows, written anew in place, many times a second.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 ..< 8 | the number, big endian |
/// | 8 ..< 12 | its masked CRC-32C, big endian |
///
/// It is never synced: the number may lag after a power cut, and never be ahead of what had been
/// done when it was set. Twelve bytes in one sector are written whole or not at all. Safe from any
/// thread; who sets it takes turns.
package final class MarkFile: Sendable {
    /// What a mark file holds.
    package enum Content: Equatable, Sendable {
        /// There is no file, or an empty one: nothing was ever marked.
        case none
        /// The number.
        case number(UInt64)
        /// Something else.
        case unreadable
    }

    private static let byteCount = 12
    private let file: OpenFile

    /// Opens the file at `path`, making it when it is missing; what it holds stays.
    ///
    /// - Throws: what the system says.
    package init(_ path: String) throws(FileError) {
        file = try OpenFile(path, flags: O_WRONLY | O_CREAT)
    }

    /// What the file at `path` holds.
    ///
    /// - Throws: where it is there and cannot be read.
    package static func content(of path: String) throws(FileError) -> Content {
        guard try Files.entry(at: path) != nil else { return .none }
        let bytes = try Files.read(path, byteCountMax: byteCount + 1)
        guard !bytes.isEmpty else { return .none }
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return bytes == encoded(number) ? .number(number) : .unreadable
    }

    /// Writes `number` over the one before. About 1 us.
    ///
    /// - Returns: whether the system took it; the old one stands otherwise.
    @discardableResult
    package func set(_ number: UInt64) -> Bool {
        let bytes = Self.encoded(number)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe pwrite(file.descriptor, buffer.baseAddress, buffer.count, 0)
        }
        return count == bytes.count
    }

    private static func encoded(_ number: UInt64) -> [UInt8] {
        var bytes = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> $0)
        }
        let checksum = unsafe bytes.withUnsafeBytes { unsafe LogChecksum.masked($0) }
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: checksum >> shift))
        }
        return bytes
    }
}
