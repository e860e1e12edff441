/// How a store on disk is opened.
package struct StorageOptions: Sendable {
    /// When a commit is on disk.
    package enum Sync: Sendable, Equatable {
        /// Before `commit` returns: an acknowledged change survives a power cut.
        case always
        /// Within this many milliseconds: a power cut may lose what was acknowledged since. A
        /// crash of the process alone loses nothing.
        case interval(milliseconds: UInt64)
    }

    /// When a commit is on disk.
    package var sync = Sync.always
    /// Bytes of blocks kept in memory.
    package var cacheByteCount = 256 << 20
    /// Bytes of changes in memory before they are written into tables.
    package var memtableByteCountMax = 64 << 20
    /// Bytes of logs on disk before tables are written to let the oldest go; bounds the time that
    /// opening takes after a crash: 1.5 s per 100 MiB, measured on two busy cores.
    package var logByteCountMax: UInt64 = 64 << 20
    /// Threads for writing and merging tables.
    package var backgroundJobCountMax: Int32 = 2
    /// While the disk refuses writes: milliseconds between two tries to write again.
    package var retryIntervalMilliseconds: UInt64 = 1_000
    /// Bytes on the disk that commits leave free: below that they are refused, so that what was
    /// taken before can still be moved into tables.
    package var reserveByteCount: UInt64 = 128 << 20
    /// Called with what an operator must see. On any thread; must not call the store.
    package var onNotice: @Sendable (StorageNotice) -> Void = { _ in }

    /// The values above.
    package init() {}
}

/// What an operator must see of a store; each is worth a line in the log and a count.
package enum StorageNotice: Equatable, Sendable, CustomStringConvertible {
    /// A log ended in an unfinished record, as a crash leaves it; it was left out.
    case unfinishedRecord(message: String)
    /// Writes fail from now on; reads go on.
    case writesFailing(message: String)
    /// Writes work again.
    case writesResumed
    /// A read found damage, or the disk refused it: told once. What depends on it is refused.
    case readsFailing(message: String)
    /// A write that was reported as failed had reached the disk after all; it was taken back.
    case failedWriteUndone

    package var description: String {
        switch self {
        case .unfinishedRecord(let message): message
        case .writesFailing(let message): "the store takes no writes: \(message)"
        case .writesResumed: "the store takes writes again"
        case .readsFailing(let message): "the store is damaged: \(message)"
        case .failedWriteUndone: "a write reported as failed had reached the disk; it was undone"
        }
    }
}
