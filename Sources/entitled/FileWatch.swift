internal import EventLoop

/// Notices that files were changed or replaced: certificates, keys, whatever is taken up without a
/// restart. Looks at them once in a while, which is all the work that an idle server does for it;
/// a signal is quicker. Main thread's loop.
final class FileWatch {
    /// How often it looks, in milliseconds.
    static let intervalMilliseconds: UInt64 = 60_000

    /// A file, and what to do when it is another one.
    struct Watched {
        let path: String
        let onChange: () -> Void
    }

    private var files: [(watched: Watched, stamp: FileStamp?)]
    private var timer: Timer?
    private let intervalMilliseconds: UInt64
    private let stamp: (String) -> FileStamp?

    /// Notes how the files are now. Without a file no timer runs.
    ///
    /// - Throws: `UVError` when the system refuses a timer.
    init(
        on loop: Loop, _ files: [Watched], everyMilliseconds interval: UInt64,
        stamp: @escaping (String) -> FileStamp? = SystemCalls.stamp
    ) throws(UVError) {
        self.stamp = stamp
        self.files = []
        intervalMilliseconds = interval
        let timer = try Timer(loop: loop) { [unowned self] in look() }
        self.timer = timer
        replace(with: files)
    }

    /// Watches other files from now on, and notes how they are. What was noted of one that was
    /// watched before stays: it may have changed since it was read.
    func replace(with files: [Watched]) {
        let before = self.files
        self.files = files.map { file in
            let known = before.first { $0.watched.path == file.path }
            return (file, known?.stamp ?? stamp(file.path))
        }
        guard let timer else { return }
        if files.isEmpty {
            timer.stop()
        } else if !timer.isRunning {
            timer.start(
                afterMilliseconds: intervalMilliseconds, repeatMilliseconds: intervalMilliseconds)
        }
    }

    /// Looks at every file. One that is gone is no change: it is being replaced, or was lost, and
    /// what was in it goes on to apply.
    func look() {
        for index in files.indices {
            guard let now = stamp(files[index].watched.path), now != files[index].stamp else {
                continue
            }
            files[index].stamp = now
            files[index].watched.onChange()
        }
    }

    /// Notes how the files are now, without a word: they are about to be read for another reason.
    /// Before that, so that a change in between is found.
    func noteAll() {
        for index in files.indices {
            guard let now = stamp(files[index].watched.path) else { continue }
            files[index].stamp = now
        }
    }

    func stop() { timer?.close() }
}

/// What tells one content of a file from another without reading it.
struct FileStamp: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
    var byteCount: Int64
    /// In nanoseconds since 1970.
    var modified: Int64
    /// The same of the last change of its owner, permissions or content: a copy that keeps the old
    /// time of modification shows here.
    var changed: Int64
    /// Permissions.
    var mode: UInt32
}
