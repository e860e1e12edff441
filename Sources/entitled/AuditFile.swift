internal import Authorization
internal import EventLoop

/// Writes the audit, on a thread of its own: one line of JSON for each call, in the order in which
/// they ended.
///
/// What is written is synced before the thread waits for more; who calls does not wait for that, so
/// a power cut may take the last entries. When the file has its size it is put aside as `.1`, what
/// was `.1` as `.2`, and so on; the oldest goes. Entries that could not be taken or written are
/// counted, and a line says how many.
final class AuditFile: Sendable {
    /// Files that were put aside and are kept.
    static let oldFileCountMax = 4
    /// Entries that may wait for the disk.
    private static let waitingCountMax = 8_192
    private static let groupCountMax = 256

    let trail: AuditTrail
    private let entries: BlockingQueue<AuditEntry>
    private let thread: Thread

    /// Opens the file and starts the thread.
    ///
    /// - Throws: `StartFailure` when the file cannot be opened or the system refuses a thread.
    init(path: String, byteCountMax: Int, logger: Logger) throws(StartFailure) {
        let entries = BlockingQueue<AuditEntry>(capacity: Self.waitingCountMax)
        let trail = AuditTrail { entries.push($0) }
        guard let file = AppendedFile(path: path) else {
            throw StartFailure(
                .cannotCreate, "the audit file `\(path)` cannot be opened for writing")
        }
        self.entries = entries
        self.trail = trail
        let writer = AuditWriter(file, byteCountMax: byteCountMax, trail, logger)
        do throws(UVError) {
            thread = try Thread(name: "audit", priority: .lowest) {
                var writer = writer
                var group: [AuditEntry] = []
                while entries.pop(upTo: Self.groupCountMax, into: &group) {
                    writer.write(group)
                    group.removeAll(keepingCapacity: true)
                }
                writer.close()
            }
        } catch {
            file.close()
            throw StartFailure(error)
        }
    }

    /// Writes what waits, and ends the thread. After the server: later entries are dropped.
    func stop() {
        entries.close()
        thread.join()
    }
}

/// The thread's own: the open file, and how much is in it.
private struct AuditWriter: Sendable {
    private var file: AppendedFile?
    private let path: String
    private let byteCountMax: Int
    private let trail: AuditTrail
    private let logger: Logger
    private var byteCount: Int
    private var toldCount: UInt64 = 0
    private var isFailing = false
    /// Whether a power cut left a part of a line at the end.
    private var isTorn: Bool

    init(_ file: AppendedFile, byteCountMax: Int, _ trail: AuditTrail, _ logger: Logger) {
        self.file = file
        path = file.path
        self.byteCountMax = byteCountMax
        self.trail = trail
        self.logger = logger
        byteCount = file.byteCount
        isTorn = file.isTorn
    }

    mutating func write(_ group: [AuditEntry]) {
        if byteCount >= byteCountMax { rotate() }
        if file == nil {
            file = AppendedFile(path: path)
            byteCount = file?.byteCount ?? 0
            isTorn = file?.isTorn ?? false
        }
        var text = (isTorn ? "\n" : "") + group.map { $0.line + "\n" }.joined()
        let lostCount = trail.droppedCount + trail.suppressedCount
        if lostCount > toldCount {
            text += Self.notice(trail)
        }
        let bytes = Array(text.utf8)
        guard let file, file.append(bytes) else { return failed(group) }
        byteCount += bytes.count
        toldCount = lostCount
        isTorn = false
        if isFailing { logger.warn("the audit is written again", .init("file", path)) }
        isFailing = false
    }

    private static func notice(_ trail: AuditTrail) -> String {
        "{\"lost\":\(trail.droppedCount),\"suppressed\":\(trail.suppressedCount)}\n"
    }

    private mutating func failed(_ group: [AuditEntry]) {
        trail.countDropped(UInt64(group.count))
        if !isFailing {
            logger.error("the audit cannot be written", .init("file", path))
        }
        isFailing = true
        file?.close()
        file = nil
    }

    /// A name at a time from the oldest on, so that a crash in between loses none but the oldest.
    private mutating func rotate() {
        file?.close()
        file = nil
        for index in stride(from: AuditFile.oldFileCountMax - 1, through: 1, by: -1) {
            SystemCalls.rename("\(path).\(index)", to: "\(path).\(index + 1)")
        }
        if !SystemCalls.rename(path, to: "\(path).1") {
            logger.error("the audit file cannot be put aside", .init("file", path))
        }
    }

    func close() { file?.close() }
}
