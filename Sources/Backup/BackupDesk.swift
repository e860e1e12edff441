package import Entitlements
internal import EventLoop
package import Service
internal import Storage
internal import Synchronization

/// Makes backups for a server, one at a time, on a thread of the lowest priority.
///
/// | state | request | next state |
/// | --- | --- | --- |
/// | idle | a new name | running |
/// | running | any new one | running; BACKUP_RUNNING |
/// | running | the end | idle, with what became of it |
package final class BackupDesk: Sendable {
    /// What an operator must see.
    package enum Notice: Equatable, Sendable {
        case began(path: String)
        case finished(path: String, revision: UInt64, byteCount: UInt64, milliseconds: UInt64)
        case failed(path: String, message: String)
    }

    /// What metrics tell.
    package struct Counts: Hashable, Sendable {
        /// When the newest complete backup was begun; nil without one.
        package var lastSuccessAt: Timestamp?
        /// How long the newest one took, in ms.
        package var durationMilliseconds: UInt64 = 0
    }

    private struct State {
        var running: BackupStatus?
        var thread: Thread?
        /// What became of the last one.
        var last: (name: String, result: Result<BackupStatus, BackupError>)?
        var counts = Counts()
        var isStopping = false
    }

    private let maker: BackupMaker
    private let now: @Sendable () -> Timestamp
    private let text: @Sendable (Timestamp) -> String
    private let onNotice: @Sendable (Notice) -> Void
    private let state = Locked(State())
    private let hasGivenUp: Flag

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// A desk; looks for backups that are there.
    ///
    /// - Parameters:
    ///   - maker: Makes one; its callbacks are set here.
    ///   - now: The time of day.
    ///   - text: An instant as RFC 3339.
    ///   - onNotice: Told what an operator must see; called by any thread.
    package init(
        _ maker: BackupMaker, now: @escaping @Sendable () -> Timestamp,
        text: @escaping @Sendable (Timestamp) -> String,
        onNotice: @escaping @Sendable (Notice) -> Void
    ) {
        let flag = Flag()
        hasGivenUp = flag
        var maker = maker
        let state = state
        maker.isStopping = { flag.value.load(ordering: .relaxed) }
        maker.onProgress = { done, total, fileCount in
            state.withLock { state in
                state.running?.doneByteCount = done
                state.running?.byteCount = total
                state.running?.fileCount = fileCount
            }
        }
        self.maker = maker
        self.now = now
        self.text = text
        self.onNotice = onNotice
        // Where nobody has made a backup yet there is no directory.
        if let newest = try? BackupShelf(maker.root).newest() {
            state.withLock { $0.counts = Counts(newest) }
        }
    }

    /// What metrics tell. Any thread.
    package var counts: Counts { state.withLock(\.counts) }

    /// What the service is given.
    package var handler: BackupHandler {
        { (request) throws(Refusal) in try self.handle(request) }
    }

    /// Begins a backup, or tells how one goes on; see `BackupHandler`.
    package func handle(_ request: BackupRequest) throws(Refusal) -> BackupStatus {
        let createdAt = now()
        let name: BackupName
        do throws(BackupError) {
            name =
                request.name.isEmpty && !request.isFollowUp
                ? BackupName(time: text(createdAt))
                : try BackupName(request.name, in: maker.root)
        } catch {
            throw Refusal(.invalidField, error.message)
        }
        return request.isFollowUp ? try status(of: name) : try begin(name, at: createdAt)
    }

    /// Gives up what is being made, and waits for its thread.
    package func stop() {
        hasGivenUp.value.store(true, ordering: .relaxed)
        let thread = state.withLock { state in
            state.isStopping = true
            return state.thread
        }
        thread?.join()
    }

    private func begin(_ name: BackupName, at createdAt: Timestamp) throws(Refusal) -> BackupStatus
    {
        let path = maker.root + "/" + name.text
        let status = BackupStatus(name: name.text, path: path, createdAt: createdAt)
        enum Outcome { case begun(Thread?), running(String), stopping }
        let outcome = state.withLock { state -> Outcome in
            if state.isStopping { return .stopping }
            if let running = state.running { return .running(running.name) }
            state.running = status
            defer { state.thread = nil }
            return .begun(state.thread)
        }
        switch outcome {
        case .stopping:
            throw Refusal(.draining, "this server is shutting down", retryAfterMilliseconds: 1_000)
        case .running(let other):
            throw Refusal(.backupRunning, "the backup \(other) is being made; wait for its end")
        case .begun(let former): former?.join()
        }
        do throws(UVError) {
            let thread = try Thread(name: "backup", priority: .lowest) { [self] in
                run(name, at: createdAt)
            }
            state.withLock { $0.thread = thread }
        } catch {
            state.withLock { $0.running = nil }
            throw Refusal(.backupFailed, "no thread could be started: \(error.description)")
        }
        return status
    }

    private func run(_ name: BackupName, at createdAt: Timestamp) {
        let path = maker.root + "/" + name.text
        onNotice(.began(path: path))
        let result: Result<BackupStatus, BackupError>
        do throws(BackupError) {
            let manifest = try maker.make(name, at: createdAt, text(createdAt))
            result = .success(BackupStatus(manifest, name: name.text, path: path))
            onNotice(
                .finished(
                    path: path, revision: manifest.revision, byteCount: manifest.byteCount,
                    milliseconds: manifest.durationMilliseconds))
            state.withLock { $0.counts = Counts(manifest) }
        } catch {
            result = .failure(error)
            onNotice(.failed(path: path, message: error.message))
        }
        state.withLock { state in
            state.last = (name.text, result)
            state.running = nil
        }
    }

    private func status(of name: BackupName) throws(Refusal) -> BackupStatus {
        let (running, last) = state.withLock { ($0.running, $0.last) }
        if var running, running.name == name.text {
            let elapsed = now().milliseconds - running.createdAt.milliseconds
            running.durationMilliseconds = UInt64(max(0, elapsed))
            return running
        }
        guard let last, last.name == name.text else {
            throw Refusal(
                .unknownBackup, "no backup \(name.text) was asked for since this server started")
        }
        switch last.result {
        case .success(let status): return status
        case .failure(let error): throw Refusal(error)
        }
    }
}

extension BackupDesk.Counts {
    fileprivate init(_ manifest: BackupManifest) {
        lastSuccessAt = manifest.createdAt
        durationMilliseconds = manifest.durationMilliseconds
    }
}

extension BackupStatus {
    /// A complete backup.
    fileprivate init(_ manifest: BackupManifest, name: String, path: String) {
        self.init(name: name, path: path, createdAt: manifest.createdAt)
        isComplete = true
        revision = manifest.revision
        fileCount = manifest.files.count
        byteCount = manifest.byteCount
        doneByteCount = manifest.byteCount
        durationMilliseconds = manifest.durationMilliseconds
    }
}

extension Refusal {
    fileprivate init(_ error: BackupError) {
        switch error {
        case .exists: self.init(.backupExists, error.message)
        case .running: self.init(.backupRunning, error.message)
        case .invalidName: self.init(.invalidField, error.message)
        case .storage(.unavailable): self.init(.storeUnavailable, error.message)
        default: self.init(.backupFailed, error.message)
        }
    }
}
