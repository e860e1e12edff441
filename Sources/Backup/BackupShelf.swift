internal import Entitlements
internal import RocksDB

/// The backups of one directory.
package struct BackupShelf: Sendable {
    /// What a directory is.
    package enum State: Hashable, Sendable {
        case complete(BackupManifest)
        /// Without a manifest: being made, or broken off.
        case incomplete
        /// Its manifest cannot be used.
        case unusable(message: String)
        /// It holds what no backup holds.
        case foreign
    }

    /// One directory.
    package struct Entry: Hashable, Sendable {
        package var name: String
        package var path: String
        package var state: State
        /// When the backup was begun, or the directory last changed, in ms since 1970.
        package var milliseconds: Int64

        /// What it reaches to; 0: it is no complete backup.
        fileprivate var revision: UInt64 {
            if case .complete(let manifest) = state { manifest.revision } else { 0 }
        }
    }

    /// What may stand in a backup that was broken off.
    private static let ownNames: Set = [
        BackupManifest.formatFile, BackupManifest.formatFile + ".new",
        BackupManifest.storeDirectory, BackupManifest.storeDirectory + ".tmp",
        BackupManifest.fileName, BackupManifest.fileName + ".new",
    ]

    /// The directory of all backups.
    package let root: String

    /// A shelf.
    package init(_ root: String) { self.root = root }

    /// Every directory in it, the oldest first.
    ///
    /// - Throws: `.file`.
    package func entries() throws(BackupError) -> [Entry] {
        var entries: [Entry] = []
        for name in try onFiles({ () throws(FileError) in try Files.names(in: root) }) {
            let path = root + "/" + name
            let entry = try onFiles { () throws(FileError) in try Files.entry(at: path) }
            guard entry == .directory, name != "lost+found" else { continue }
            let changed = try onFiles { () throws(FileError) in
                try Files.modifiedMilliseconds(of: path)
            }
            let state = try state(of: path)
            var milliseconds = changed
            if case .complete(let manifest) = state {
                milliseconds = manifest.createdAt.milliseconds
            }
            entries.append(
                Entry(name: name, path: path, state: state, milliseconds: milliseconds))
        }
        return entries.sorted { ($0.milliseconds, $0.name) < ($1.milliseconds, $1.name) }
    }

    /// The newest complete backup; nil without one.
    ///
    /// - Throws: `.file`.
    package func newest() throws(BackupError) -> BackupManifest? {
        try entries().lazy.reversed().compactMap { entry in
            if case .complete(let manifest) = entry.state { manifest } else { nil }
        }.first
    }

    /// Removes all but the newest `keptCount` complete backups, and what was broken off before the
    /// newest of them was begun. The newest complete one stays in any case, and so does what is no
    /// backup or cannot be used.
    ///
    /// Newest by the clock, and newest by revision too: where the clock was ahead for a while, all
    /// that are made after it was set right would look older than those, and go at once.
    ///
    /// - Parameters:
    ///   - keptCount: At least 1.
    ///   - isDryRun: Whether nothing is removed.
    /// - Returns: What was removed, the oldest first.
    /// - Throws: `.running` while a backup is made, `.file`.
    package func prune(keeping keptCount: Int, isDryRun: Bool) throws(BackupError) -> [Entry] {
        precondition(keptCount >= 1, "the newest backup is never removed")
        let lock = try BackupMaker.lock(root)
        defer { withExtendedLifetime(lock) {} }
        let entries = try entries()
        let complete = entries.filter { if case .complete = $0.state { true } else { false } }
        guard let newest = complete.last else { return [] }
        let furthest = complete.sorted {
            ($0.revision, $0.milliseconds, $0.name) < ($1.revision, $1.milliseconds, $1.name)
        }.suffix(keptCount)
        let old = Set(complete.dropLast(keptCount)).subtracting(furthest)
        let removed = entries.filter { entry in
            old.contains(entry)
                || entry.state == .incomplete && entry.milliseconds < newest.milliseconds
        }
        guard !isDryRun else { return removed }
        for entry in removed { try remove(entry) }
        try onFiles { () throws(FileError) in try Files.syncDirectory(root) }
        return removed
    }

    /// The manifest goes first: what is left when this is broken off is no backup.
    private func remove(_ entry: Entry) throws(BackupError) {
        try onFiles { () throws(FileError) in
            try Files.remove(entry.path + "/" + BackupManifest.fileName)
            try Files.syncDirectory(entry.path)
            try Files.removeTree(entry.path)
        }
    }

    private func state(of path: String) throws(BackupError) -> State {
        do throws(BackupError) {
            return .complete(try BackupManifest(of: path))
        } catch {
            guard case .noBackup = error else { return .unusable(message: error.message) }
        }
        let names = try onFiles { () throws(FileError) in try Files.names(in: path) }
        return Self.ownNames.isSuperset(of: names) ? .incomplete : .foreign
    }
}
