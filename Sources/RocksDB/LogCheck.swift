/// Reads RocksDB's logs of writes before RocksDB does, because it cannot tell a record that was
/// never finished from one that was damaged later: in one recovery mode it refuses both, in the
/// others it drops everything behind a flipped byte and says nothing.
///
/// A log is a sequence of blocks of 32 KiB; a block a sequence of fragments: checksum (4 bytes,
/// little endian, masked CRC-32C of all that follows the length), length (2), type (1), in reused
/// files also the log's number (4), then the payload. A record is one FULL fragment, or FIRST,
/// MIDDLE..., LAST. Its payload is a write batch: sequence number (8), count (4), changes.
/// See: https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format
///
/// What stops the reading is judged like this:
///
/// | what stops it | behind it | judgement |
/// | --- | --- | --- |
/// | a record goes on past the end of the file | nothing | unfinished |
/// | anything else | the start of a whole record | damaged: it was written, so all before it was |
/// | anything else | sectors of zeros, nothing whole | unfinished: a power cut before the sync |
/// | anything else | nothing whole | damaged |
package struct LogCheck: Equatable, Sendable {
    /// What a log holds behind its whole records.
    package enum End: Equatable, Sendable {
        /// Nothing.
        case whole
        /// A record that was being written when the process or the machine stopped; nobody was
        /// told that it is stored.
        case unfinished(offset: UInt64, byteCount: UInt64)
        /// Damage at `offset`, and acknowledged records at it or behind it.
        case damaged(offset: UInt64, reason: String)
    }

    /// The number of the first change in the log; nil when no record is whole.
    package var firstSequence: UInt64?
    /// The number that follows the last change in the log; nil when no record is whole.
    package var nextSequence: UInt64?
    /// How many whole records the log holds.
    package var recordCount = 0
    /// How it ends.
    package var end = End.whole

    /// Checks one log file.
    ///
    /// - Throws: when the file cannot be read.
    package init(file path: String) throws(FileError) {
        let file = try OpenFile(path, flags: OpenFile.readOnly)
        var reader = LogReader()
        while true {
            let block = try file.bytes(
                at: Int64(reader.offset), byteCountMax: LogReader.blockByteCount)
            reader.read(block)
            if block.count < LogReader.blockByteCount { break }
        }
        self = reader.finish()
    }

    fileprivate init() {}
}

/// What the logs of one database hold behind their whole records.
package struct LogDirectoryCheck: Equatable, Sendable {
    /// The unfinished records, one sentence each, naming the file.
    package private(set) var unfinished: [String] = []
    /// The damage found first, naming the file.
    package private(set) var damage: String?
    /// The number that follows the last change in any log, and the log; nil when no log holds one.
    package private(set) var end: (nextSequence: UInt64, path: String)?

    /// Whether the same was found.
    package static func == (left: LogDirectoryCheck, right: LogDirectoryCheck) -> Bool {
        left.unfinished == right.unfinished && left.damage == right.damage
            && left.end?.nextSequence == right.end?.nextSequence
            && left.end?.path == right.end?.path
    }

    /// Checks all logs in `directory`, oldest first.
    ///
    /// - Throws: when a file cannot be read.
    package init(directory: String) throws(FileError) {
        let numbers = try Files.names(in: directory).compactMap { name in
            name.hasSuffix(".log") ? UInt64(name.dropLast(4)).map { (number: $0, name: name) } : nil
        }
        for (_, name) in numbers.sorted(by: { $0.number < $1.number }) {
            let path = directory + "/" + name
            let check = try LogCheck(file: path)
            if let last = end, let first = check.firstSequence, first > last.nextSequence {
                // Cut, or a whole log between the two is gone: every change has a number.
                damage =
                    "\(last.path) ends early: changes \(last.nextSequence) to "
                    + "\(first - 1) are missing before \(path)"
                return
            }
            if let next = check.nextSequence { end = (next, path) }
            switch check.end {
            case .whole: break
            case .unfinished(let offset, let byteCount):
                unfinished.append(
                    "\(path) ends in an unfinished record at byte \(offset); its \(byteCount) "
                        + "bytes are left out: a crash leaves such an end before it answers, a "
                        + "cut file may hold what was answered")
            case .damaged(let offset, let reason):
                damage = "\(path) is damaged at byte \(offset): \(reason)"
                return
            }
        }
    }
}

/// The state of reading one log, block by block.
private struct LogReader {
    static let blockByteCount = 32 << 10
    private static let headerByteCount = 7
    private static let batchHeaderByteCount = 12
    /// Below this many zeros in a row a piece of a sector may well be data.
    private static let unwrittenByteCountMin = 16
    private static let sectorByteCount = 512

    /// The types of fragments; those of reused files are four higher.
    private enum Fragment {
        case full, first, middle, last, other

        init(type: UInt8) {
            switch type {
            case 1, 5: self = .full
            case 2, 6: self = .first
            case 3, 7: self = .middle
            case 4, 8: self = .last
            default: self = .other
            }
        }
    }

    private struct Stop {
        let offset: UInt64
        let reason: String
        /// The file ended before the record did.
        let isEndOfFile: Bool
        var isFollowedByRecord = false
        var isFollowedByUnwritten = false
    }

    /// The bytes read so far.
    private(set) var offset: UInt64 = 0
    private var check = LogCheck()
    private var stop: Stop?
    /// Where the record began whose fragments are being read.
    private var openRecord: UInt64?
    /// The first bytes of that record: the header of its write batch.
    private var batchHeader: [UInt8] = []

    /// Reads the next block; only the last one may be short.
    mutating func read(_ block: [UInt8]) {
        unsafe block.withUnsafeBytes { block in
            var position = 0
            if stop == nil { position = unsafe readFragments(block) }
            if stop != nil { unsafe search(block, from: position) }
        }
        offset += UInt64(block.count)
    }

    /// What was found, once all blocks are read.
    consuming func finish() -> LogCheck {
        if let openRecord, stop == nil {
            stop = Stop(offset: openRecord, reason: "the file ends", isEndOfFile: true)
        }
        guard let stop else { return check }
        let start = openRecord ?? stop.offset
        let isUnfinished =
            !stop.isFollowedByRecord && (stop.isEndOfFile || stop.isFollowedByUnwritten)
        check.end =
            isUnfinished
            ? .unfinished(offset: start, byteCount: offset - start)
            : .damaged(offset: stop.offset, reason: stop.reason)
        return check
    }

    /// Reads fragments until the block ends or something stops it; returns where it stopped.
    private mutating func readFragments(_ block: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while position < block.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: block[position...])
            let isLastBlock = block.count < Self.blockByteCount
            guard rest.count >= Self.headerByteCount else {
                // A full block ends in a filler that is too short for a header.
                if isLastBlock {
                    halt(position, "the file ends inside a header", isEndOfFile: true)
                }
                return position
            }
            let byteCount = unsafe Self.byteCount(of: rest)
            if unsafe byteCount == Self.headerByteCount && rest[6] == 0 {
                halt(position, "zeros where a record should begin")
                return position
            }
            guard byteCount <= rest.count else {
                halt(position, "a record goes on past its block", isEndOfFile: isLastBlock)
                return position
            }
            guard unsafe Self.isIntact(rest, byteCount: byteCount) else {
                halt(position, "the checksum of a record is wrong")
                return position
            }
            let payload = unsafe UnsafeRawBufferPointer(rebasing: rest[..<byteCount])
            guard unsafe take(payload, at: position) else { return position }
            position += byteCount
        }
        return position
    }

    /// Takes an intact fragment; false when it does not fit what came before.
    private mutating func take(_ fragment: UnsafeRawBufferPointer, at position: Int) -> Bool {
        let type = unsafe fragment[6]
        let kind = Fragment(type: type)
        let headerByteCount = Self.headerByteCount + ((5...8).contains(type) ? 4 : 0)
        switch (kind, openRecord) {
        case (.full, .some), (.first, .some):
            halt(position, "a record has no end")
            stop?.isFollowedByRecord = true
            return false
        case (.middle, nil), (.last, nil):
            halt(position, "a record has no beginning")
            return false
        case (.full, nil), (.first, nil):
            openRecord = offset + UInt64(position)
            batchHeader.removeAll(keepingCapacity: true)
        default: break
        }
        guard kind != .other else { return true }
        let wanted = Self.batchHeaderByteCount - batchHeader.count
        unsafe batchHeader.append(contentsOf: fragment.dropFirst(headerByteCount).prefix(wanted))
        guard kind == .full || kind == .last else { return true }
        guard closeRecord() else {
            stop = Stop(
                offset: openRecord ?? offset, reason: "the numbers of the changes go back",
                isEndOfFile: false, isFollowedByRecord: true)
            return false
        }
        return true
    }

    /// Counts the record whose last fragment was just taken; false when it cannot follow the one
    /// before (RocksDB aborts the process on such a log).
    private mutating func closeRecord() -> Bool {
        guard batchHeader.count == Self.batchHeaderByteCount else {
            openRecord = nil
            check.recordCount += 1
            return true
        }
        let sequence = batchHeader[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let count = batchHeader[8...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if let next = check.nextSequence, sequence < next { return false }
        openRecord = nil
        check.recordCount += 1
        if check.firstSequence == nil { check.firstSequence = sequence }
        check.nextSequence = sequence &+ count
        return true
    }

    private mutating func halt(_ position: Int, _ reason: String, isEndOfFile: Bool = false) {
        stop = Stop(
            offset: offset + UInt64(position), reason: reason, isEndOfFile: isEndOfFile)
    }

    // MARK: Behind the stop

    /// Looks behind the stop for the start of a whole record and for sectors of zeros.
    private mutating func search(_ block: UnsafeRawBufferPointer, from position: Int) {
        guard let stop, !stop.isFollowedByRecord else { return }
        if unsafe holdsUnwrittenSector(block, from: position) {
            self.stop?.isFollowedByUnwritten = true
        }
        // In the block of the stop a record may begin anywhere; later blocks begin with a fragment.
        let isBlockOfStop = stop.offset >= offset
        var candidate = isBlockOfStop ? position + 1 : 0
        while candidate + Self.headerByteCount <= block.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: block[candidate...])
            let byteCount = unsafe Self.byteCount(of: rest)
            let kind = unsafe Fragment(type: rest[6])
            let isStart = kind == .full || kind == .first
            if (isStart || !isBlockOfStop) && byteCount <= rest.count {
                if unsafe kind != .other && Self.isIntact(rest, byteCount: byteCount) {
                    if isStart {
                        self.stop?.isFollowedByRecord = true
                        return
                    }
                    candidate += byteCount
                    continue
                }
            }
            guard isBlockOfStop else { return }
            candidate += 1
        }
    }

    /// Whether a sector, as far as it lies behind `position` in this block, is all zeros.
    private func holdsUnwrittenSector(_ block: UnsafeRawBufferPointer, from position: Int) -> Bool {
        var start = position
        while start < block.count {
            let end = min((start / Self.sectorByteCount + 1) * Self.sectorByteCount, block.count)
            if unsafe end - start >= Self.unwrittenByteCountMin
                && block[start..<end].allSatisfy({ $0 == 0 })
            {
                return true
            }
            start = end
        }
        return false
    }

    /// The bytes of the fragment whose header starts `rest`, header included.
    private static func byteCount(of rest: UnsafeRawBufferPointer) -> Int {
        let length = unsafe Int(rest[4]) | Int(rest[5]) << 8
        let isReused = unsafe (5...8).contains(rest[6])
        return headerByteCount + (isReused ? 4 : 0) + length
    }

    private static func isIntact(_ rest: UnsafeRawBufferPointer, byteCount: Int) -> Bool {
        let stored = unsafe UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self))
        let covered = unsafe UnsafeRawBufferPointer(rebasing: rest[6..<byteCount])
        return unsafe LogChecksum.masked(covered) == stored
    }
}
