internal import FoundationEssentials
internal import RocksDBStorage
internal import Storage
internal import ToolSupport

/// A small file system for the server's data, which rounds fill to the last byte.
struct CrashDisk: Sendable {
    /// A directory on it.
    let path: String

    /// So much of a file system may be filled; a larger one is somebody's own.
    private static let freeByteCountMax: UInt64 = 4 << 30
    /// A server keeps 128 MiB free for itself, and the data need some.
    private static let freeByteCountMin: UInt64 = 384 << 20
    private static let pieces = [4 << 20, 64 << 10, 1 << 10]

    private var filler: String { path + "/filler" }

    /// The file system of `path`.
    ///
    /// - Throws: `CommandFailure` where it is too small, or too large to be meant.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        let free: UInt64
        do throws(StorageError) {
            free = try StoreLoader.freeByteCount(at: path)
        } catch {
            throw CommandFailure(.failed, "--disk: \(error)")
        }
        guard (Self.freeByteCountMin...Self.freeByteCountMax).contains(free) else {
            throw CommandFailure(
                .usage, "--disk: \(free >> 20) MiB are free at \(path)",
                hint: "name a file system of its own with \(Self.freeByteCountMin >> 20) to"
                    + " \(Self.freeByteCountMax >> 20) MiB free: it is filled")
        }
    }

    /// Takes all the space that is left.
    func fill() {
        try? FileManager.default.createDirectory(
            atPath: filler, withIntermediateDirectories: false)
        for byteCount in Self.pieces {
            let piece = [UInt8](repeating: 0x55, count: byteCount)
            var number = 0
            // A server frees some meanwhile, so this has to end by itself.
            while number < Int(Self.freeByteCountMax) / byteCount,
                (try? CrashFiles.write(piece, to: "\(filler)/\(byteCount)-\(number)")) != nil
            {
                number += 1
            }
        }
    }

    /// Gives it back.
    func empty() { CrashFiles.remove(filler) }
}
