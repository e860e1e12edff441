internal import RocksDB
internal import Storage

/// A write that failed, and what is needed to write again.
///
/// A batch whose append or sync failed may have reached the log all the same, and RocksDB would
/// replay it: a notification would be marked as seen though its sender was told that it was not
/// taken, beside a state that others go on to change. So the store remembers what the batch would
/// have overwritten and takes it back before anything else is written.
struct WriteTrouble: Sendable {
    /// What RocksDB said.
    let cause: String
    /// The number of the last change before the batch.
    let sequence: UInt64
    /// What stood under the keys of the batch; nil when that could not be read.
    let undo: ChangeSet?
    /// When opening again was tried last.
    var lastTry: ContinuousClock.Instant?
}

extension RocksDBStore {
    /// How long opening again waits for reads that are under way.
    static let readersSecondsMax = 30
    /// What must be writable before the database is opened again.
    private static let probeByteCount = 1 << 20

    /// Opens the database again after a failed write.
    ///
    /// - Throws: `.unavailable` while the disk refuses; `.damaged` when acknowledged changes are
    ///   gone.
    func resume(_ writer: inout Writer) throws(StorageError) {
        guard let trouble = writer.trouble else { return }
        let now = ContinuousClock.now
        let pause = Duration.milliseconds(options.retryIntervalMilliseconds)
        if let lastTry = trouble.lastTry, lastTry.duration(to: now) < pause {
            throw .unavailable(message: trouble.cause)
        }
        writer.trouble?.lastTry = now
        if let shortage = try StoreOpening.shortage(in: databasePath, options) {
            throw .unavailable(message: shortage)
        }
        try onFiles(of: databasePath) { () throws(FileError) in
            try Files.probe(Files.parent(of: databasePath), byteCount: Self.probeByteCount)
        }
        let reopened: Void? = try current.withWriting(within: Self.readersSecondsMax) {
            (current) throws(StorageError) in
            try reopen(&current, after: trouble)
        }
        guard reopened != nil else {
            throw .unavailable(message: "\(trouble.cause); reads keep the database open")
        }
        writer.trouble = nil
        writesResume()
    }

    /// Lets go of the database and opens it, to write, else to read.
    private func reopen(
        _ current: inout Current, after trouble: WriteTrouble
    ) throws(StorageError) {
        // Nobody reads now, so this was the last reference: the database is closed, or
        // abandoned, here.
        current = .closed(reason: "the store is being opened again")
        do {
            current = .open(
                try StoreOpening.open(databasePath, .use, options).database)
        } catch {
            reopenForReading(&current)
            throw .unavailable(message: "\(trouble.cause); opening again: \(error)")
        }
        guard case .open(let database) = current else { return }
        let sequence = database.latestSequenceNumber
        guard sequence >= trouble.sequence else {
            let message =
                "changes \(sequence + 1) to \(trouble.sequence) were acknowledged and "
                + "are gone from \(databasePath)"
            current = .closed(reason: message)
            throw .damaged(message: message)
        }
        if sequence > trouble.sequence { try undo(trouble, in: database) }
    }

    /// Opening to read writes nothing, so a full disk cannot refuse it.
    private func reopenForReading(_ current: inout Current) {
        do {
            current = .readOnly(try StoreOpening.open(databasePath, .readOnly, options).database)
        } catch {
            current = .closed(reason: "the store cannot be opened again: \(error)")
        }
    }

    /// Takes back a batch that failed and reached the log all the same.
    private func undo(_ trouble: WriteTrouble, in database: Database) throws(StorageError) {
        guard let changes = trouble.undo else {
            throw .unavailable(
                message: "\(trouble.cause); that write reached the disk and what it replaced "
                    + "could not be read: restart the server")
        }
        do {
            try database.write(WriteBatch(changes, of: database), synced: true)
        } catch { throw .unavailable(message: error.description) }
        options.onNotice(.failedWriteUndone)
    }
}

extension WriteBatch {
    /// The changes of a set, for a database with a family per keyspace.
    ///
    /// In the order of keys: a memtable looks for the place of each record from that of the one
    /// before, where that helps.
    init(_ changes: ChangeSet, of database: Database) {
        self.init()
        for (keyspace, keyed) in changes.changes {
            let family = StoreOpening.family(of: keyspace)
            for (key, change) in keyed.sorted(by: { isBefore($0.key, $1.key) }) {
                switch change {
                case .put(let value): put(value, for: key, in: family, of: database)
                case .delete: delete(key, in: family, of: database)
                }
            }
        }
    }
}

/// Whether a key stands before another, byte by byte.
func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    let (leftBytes, rightBytes) = (left.span, right.span)
    for index in 0..<min(leftBytes.count, rightBytes.count)
    where leftBytes[index] != rightBytes[index] {
        return leftBytes[index] < rightBytes[index]
    }
    return leftBytes.count < rightBytes.count
}

extension Database {
    /// Changes that would put back what stands now under all keys of `changes`.
    func contents(of changes: ChangeSet) throws(RocksDBError) -> ChangeSet {
        var result = ChangeSet()
        for (keyspace, keyed) in changes.changes {
            for key in keyed.keys {
                if let value = try value(for: key, in: StoreOpening.family(of: keyspace)) {
                    result.put(value.copy(), for: key, in: keyspace)
                } else {
                    result.delete(key, in: keyspace)
                }
            }
        }
        return result
    }
}
