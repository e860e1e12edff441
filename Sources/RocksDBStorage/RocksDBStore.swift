internal import RocksDB
package import Storage
internal import Synchronization

/// The store on disk: a RocksDB database in a directory of its own. Safe from any thread.
///
/// Reads go on beside commits and beside each other. While the disk refuses writes, `commit`
/// throws `.unavailable`, reads go on, and every later commit first tries, at most once per
/// `StorageOptions.retryIntervalMilliseconds`, to open the database again: RocksDB latches the
/// first failed write, and its own resuming leaves a log that cannot be written. A disk that runs
/// full is noticed before RocksDB does: commits stop while `StorageOptions.reserveByteCount` is
/// still free.
///
/// Locks, outer first: `writer`, then `current`.
package final class RocksDBStore: EntitlementWriter, Sendable {
    /// Which database answers.
    enum Current: Sendable {
        /// Reads and writes.
        case open(Database)
        /// Reads only: the disk refused to open it for writing.
        case readOnly(Database)
        /// Nothing can be read.
        case closed(reason: String)
    }

    /// What the committing side knows.
    struct Writer: ~Copyable, Sendable {
        var directory: StoreDirectory?
        /// A write that failed; nothing is written before the database was opened again.
        var trouble: WriteTrouble?
        /// Whether the last commit was refused for want of space.
        var isShort = false
        /// Where it is noted what was acknowledged; nil where the file could not be made yet.
        var mark: MarkFile?
        var syncing: PeriodicTask?
    }

    let options: StorageOptions
    /// The directory of the database itself.
    let databasePath: String
    let current: ReaderWriterLock<Current>
    let writer: Mutex<Writer>
    private let writing = Atomic<Bool>(true)
    /// Why a read failed, once one has.
    private let damage = Mutex<String?>(nil)

    /// Opens the store in `directory`, making it when only the parent exists.
    ///
    /// - Throws: `.cannotOpen`, `.locked`, `.noPermission`, `.newerFormat`, `.foreignDirectory`,
    ///   `.damaged`, `.unavailable` (a disk that is full or failing). Nothing is deleted then.
    package init(
        directory: String, options: StorageOptions = StorageOptions()
    ) throws(StorageError) {
        let place = try StoreDirectory(directory)
        let shortage = try StoreOpening.shortage(in: place.databasePath, options)
        if let shortage, !place.isFinished { throw .unavailable(message: shortage) }
        let purpose: StoreOpening.Purpose =
            shortage != nil ? .readOnly : place.hasDatabase ? .use : .create
        let opened = try StoreOpening.open(place.databasePath, purpose, options)
        let isOlder = try StoreOpening.checkFormat(of: opened.database, directory)
        if isOlder && shortage == nil {
            // From here on it holds what earlier releases would misread: they must refuse it.
            try place.markFinished()
            try StoreOpening.raiseFormat(of: opened.database)
        } else if !place.isFinished {
            try place.markFinished()
        }
        self.options = options
        databasePath = place.databasePath
        current = ReaderWriterLock(
            shortage == nil ? .open(opened.database) : .readOnly(opened.database))
        writer = Mutex(Writer(directory: consume place))
        for message in opened.unfinished { options.onNotice(.unfinishedRecord(message: message)) }
        if let shortage {
            let sequence = opened.database.latestSequenceNumber
            let trouble = WriteTrouble(cause: shortage, sequence: sequence, undo: ChangeSet())
            writer.withLock { $0.trouble = trouble }
            writesFail(shortage)
        }
        let mark = shortage == nil ? openMark(opened.database) : nil
        writer.withLock { $0.mark = mark }
        guard case .interval(let milliseconds) = options.sync else { return }
        let syncing = Self.syncing(current, every: milliseconds, mark, options.onNotice)
        writer.withLock { $0.syncing = syncing }
    }

    deinit { close() }

    /// The file of the mark, which says that all that is in `database` was acknowledged; nil where
    /// it cannot be made: the store works without it, as those of earlier releases did.
    private func openMark(_ database: Database) -> MarkFile? {
        let path = Files.parent(of: databasePath) + "/" + AcknowledgedMark.fileName
        guard let mark = try? MarkFile(path) else { return nil }
        mark.set(database.latestSequenceNumber)
        return mark
    }

    /// Whether commits are taken; false from a failed write until writing works again.
    package var isWritable: Bool { writing.load(ordering: .relaxed) }

    /// What the first read said that failed, and the store is damaged since; nil while all reads
    /// are good. Only a repair and a restart help.
    package var readProblem: String? { damage.withLock { $0 } }

    /// Closes the database and gives the directory up. Reads and commits throw `.unavailable`
    /// afterwards. Waits for those under way; never from inside a scan. May be called again.
    package func close() {
        writer.withLock { writer in
            writer.syncing = nil
            let isClosed: Void? = current.withWriting(within: Self.readersSecondsMax) { current in
                if case .open(let database) = current { try? database.syncLog() }
                current = .closed(reason: "the store is closed")
            }
            if isClosed != nil { writer.directory = nil }
        }
    }

    // MARK: Reading

    /// The value under `key`, or nil.
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        try reading { (database) throws(RocksDBError) in
            try database.value(for: key, in: StoreOpening.family(of: keyspace))?.copy()
        }
    }

    /// Calls `body` on the records of one consistent state; `body` may use the store.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        try reading { (database) throws(RocksDBError) in
            try RangeIterator.scan(
                database, keyspace, prefix: prefix, from: start, reversed: reversed, body)
        }
    }

    /// Calls `body` with the value where the cache has it; no copy is made.
    package func withValue<Result>(
        for key: [UInt8], in keyspace: Keyspace, _ body: (Span<UInt8>) -> Result
    ) throws(StorageError) -> Result? {
        try reading { (database) throws(RocksDBError) in
            guard let value = try database.value(for: key, in: StoreOpening.family(of: keyspace))
            else { return nil }
            return body(value.bytes)
        }
    }

    /// Calls `body` on the records of one consistent state, where they lie.
    package func walk(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Bool
    ) throws(StorageError) {
        try reading { (database) throws(RocksDBError) in
            try RangeIterator.walk(database, keyspace, prefix: prefix, from: start, body)
        }
    }

    /// Calls `body` with a reader of one consistent state over all keyspaces: whatever it reads, in
    /// however many calls, is from between two commits. The reader is good during the call only.
    ///
    /// Keep it short: the state holds space on the disk, and closing waits for it.
    package func withSnapshot<Result, Failure: Error>(
        _ body: (StoreSnapshot) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try current.withReading { (current) throws(Failure) in
            let snapshot: StoreSnapshot =
                switch current {
                case .open(let database), .readOnly(let database):
                    StoreSnapshot(of: database) { self.readFails($0) }
                case .closed(let reason): StoreSnapshot(closed: reason)
                }
            defer { snapshot.end() }
            return try body(snapshot)
        }
    }

    private func reading<Result>(
        _ body: (Database) throws(RocksDBError) -> Result
    ) throws(StorageError) -> Result {
        try current.withReading { (current) throws(StorageError) in
            switch current {
            case .open(let database), .readOnly(let database):
                do throws(RocksDBError) {
                    return try body(database)
                } catch { throw readFails(error) }
            case .closed(let reason): throw .unavailable(message: reason)
            }
        }
    }

    /// A read failed: tells so, the first time, and gives what the caller throws.
    private func readFails(_ error: RocksDBError) -> StorageError {
        let result = StorageError(reading: error)
        let isFirst = damage.withLock { damage in
            guard damage == nil else { return false }
            damage = error.description
            return true
        }
        if isFirst { options.onNotice(.readsFailing(message: error.description)) }
        return result
    }

    // MARK: Writing

    /// Applies all of `changes` or nothing; when it returns they are visible, and durable as
    /// `StorageOptions.sync` says.
    ///
    /// - Throws: `.unavailable`; then nothing changed, also not after a restart of the writing.
    package func commit(_ changes: ChangeSet) throws(StorageError) {
        try writer.withLock { (writer) throws(StorageError) in
            guard !changes.isEmpty else { return }
            try checkSpace(&writer)
            if writer.trouble != nil { try resume(&writer) }
            try write(changes, &writer)
        }
    }

    /// Tries whether commits are taken again, where the last one was refused; writes nothing of its
    /// own accord. Any thread but one that must not wait: it may open the database again.
    ///
    /// Without it only the next commit tries; a server that sends itself no traffic while its store
    /// takes no writes would wait for that one for ever.
    package func tryWriting() {
        guard !isWritable else { return }
        // What is still wrong was told when it began.
        try? writer.withLock { (writer) throws(StorageError) in
            guard writer.directory != nil else { return }
            try checkSpace(&writer)
            try resume(&writer)
        }
    }

    /// Refuses while the disk is nearly full. About 1 us per commit, beside a sync of 250.
    private func checkSpace(_ writer: inout Writer) throws(StorageError) {
        let shortage = try onFiles(of: databasePath) { () throws(FileError) in
            try StoreOpening.shortage(of: options.reserveByteCount, beside: databasePath)
        }
        if let shortage {
            writer.isShort = true
            writesFail(shortage)
            throw .unavailable(message: shortage)
        }
        guard writer.isShort else { return }
        writer.isShort = false
        if writer.trouble == nil { writesResume() }
    }

    /// Tells, once, that writing has stopped.
    private func writesFail(_ message: String) {
        guard writing.exchange(false, ordering: .relaxed) else { return }
        options.onNotice(.writesFailing(message: message))
    }

    /// Tells that writing works again.
    func writesResume() {
        writing.store(true, ordering: .relaxed)
        options.onNotice(.writesResumed)
    }

    private func write(_ changes: ChangeSet, _ writer: inout Writer) throws(StorageError) {
        let trouble = try current.withReading {
            (current) throws(StorageError) -> WriteTrouble? in
            guard case .open(let database) = current else {
                throw .unavailable(message: "the store is not open for writing")
            }
            let sequence = database.latestSequenceNumber
            do throws(RocksDBError) {
                try database.write(
                    WriteBatch(changes, of: database), synced: options.sync == .always)
                // A mark must not be ahead of what a power cut leaves.
                if options.sync == .always {
                    if writer.mark == nil { writer.mark = openMark(database) }
                    writer.mark?.set(database.latestSequenceNumber)
                }
                return nil
            } catch {
                return WriteTrouble(
                    cause: error.description, sequence: sequence,
                    undo: try? database.contents(of: changes))
            }
        }
        guard let trouble else { return }
        writer.trouble = trouble
        writesFail(trouble.cause)
        throw .unavailable(message: trouble.cause)
    }

    /// A thread that puts commits on disk every so many milliseconds.
    private static func syncing(
        _ current: ReaderWriterLock<Current>, every milliseconds: UInt64, _ mark: MarkFile?,
        _ onNotice: @escaping @Sendable (StorageNotice) -> Void
    ) -> PeriodicTask {
        let isFailing = Atomic<Bool>(false)
        return PeriodicTask(everyMilliseconds: milliseconds) {
            current.withReading { current in
                guard case .open(let database) = current else { return }
                do throws(RocksDBError) {
                    let sequence = database.latestSequenceNumber
                    try database.syncLog()
                    mark?.set(sequence)
                    isFailing.store(false, ordering: .relaxed)
                } catch {
                    guard !isFailing.exchange(true, ordering: .relaxed) else { return }
                    onNotice(.writesFailing(message: error.description))
                }
            }
        }
    }
}
