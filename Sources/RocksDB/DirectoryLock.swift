#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The right to use a directory, held against all other processes, and against another holder in
/// this one, until it goes out of use or the process ends in any way.
///
/// The lock file stays; what counts is `flock` on it. It carries the holder's process id for
/// people to read.
package struct DirectoryLock: ~Copyable, Sendable {
    private let file: OpenFile

    /// Takes the lock, making the file when it is missing.
    ///
    /// - Throws: `FileError` of kind `.locked` when somebody holds it.
    package init(file path: String) throws(FileError) {
        let file = try OpenFile(path, flags: O_RDWR | O_CREAT)
        guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw FileError("lock", path) }
        guard ftruncate(file.descriptor, 0) == 0 else { throw FileError("write", path) }
        try file.append(Array("\(getpid())\n".utf8))
        self.file = file
    }

    /// Unlocks by name: closing alone leaves the lock with a child process that was just forked and
    /// has not yet let go of its copy of the descriptor.
    deinit { _ = flock(file.descriptor, LOCK_UN) }

    /// The process id that the holder of the lock file at `path` wrote into it, if any.
    package static func holder(of path: String) -> Int32? {
        guard let bytes = try? Files.read(path, byteCountMax: 16) else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
    }
}
