// swift-format-ignore-file: NeverForceUnwrap
// A thread's context is the pointer given to `pthread_create`, never null.
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Threads that run jobs in the order in which they came, and a queue that has an end.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        /// Jobs before it are done; removed now and then, so that taking one moves nothing.
        var next = 0
        var isEnding = false
        var threadCount = 0

        var waitingCount: Int { jobs.count - next }

        mutating func take() -> Job? {
            guard next < jobs.count else { return nil }
            let job = jobs[next]
            next += 1
            if next == jobs.count || next >= 1_024 {
                jobs.removeFirst(next)
                next = 0
            }
            return job
        }
    }

    /// What the threads share; they may outlive the pool by the job that they are in.
    private final class Shared: Sendable {
        let state = Monitor(State())

        func run() {
            while true {
                let job: Job? = state.wait { state -> Job?? in
                    if let job = state.take() { return .some(job) }
                    return state.isEnding ? .some(nil) : nil
                }
                guard let job else { break }
                job()
            }
            state.withLockNotifying { $0.threadCount -= 1 }
        }
    }

    private let shared = Shared()
    private let waitingCountMax: Int

    /// Starts the threads.
    ///
    /// - Returns: nil when the system has not enough of them.
    init?(threadCount: Int, waitingCountMax: Int) {
        self.waitingCountMax = waitingCountMax
        for _ in 0..<threadCount {
            shared.state.withLock { $0.threadCount += 1 }
            guard startThread({ [shared] in Self.run(shared) }) else {
                shared.state.withLockNotifying { state in
                    state.threadCount -= 1
                    state.isEnding = true
                }
                return nil
            }
        }
    }

    /// Behind other threads when cores are short: a job may verify signatures for whoever posts.
    private static func run(_ shared: Shared) {
        #if canImport(Glibc)
            // Who 0 is the calling thread on Linux. A failure costs fairness and nothing else.
            _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10)
        #endif
        shared.run()
    }

    /// Adds a job.
    ///
    /// - Returns: false when too many wait, or the pool is ending.
    func submit(_ job: @escaping Job) -> Bool {
        // Only threads of the pool wait until it is ending.
        shared.state.withLockNotifyingOne { state in
            guard !state.isEnding, state.waitingCount < waitingCountMax else { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Takes no more jobs; those that wait are still done. Waits for the threads until `instant`
    /// of `MonotonicTime`: a job may hang, and then its thread is left to itself.
    ///
    /// - Returns: Whether every thread has ended.
    @discardableResult
    func end(until instant: UInt64) -> Bool {
        shared.state.withLockNotifying { $0.isEnding = true }
        return shared.state.wait(until: instant) { $0.threadCount == 0 ? true : nil } ?? false
    }
}

/// What crosses into a new thread.
private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Starts a thread that nobody joins; it ends when `body` returns.
///
/// - Returns: false when the system refuses another thread.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let context = unsafe Unmanaged.passRetained(ThreadStart(body)).toOpaque()
    var thread = pthread_t()
    let code = unsafe pthread_create(
        &thread, nil,
        { context in
            unsafe Unmanaged<ThreadStart>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, context)
    guard code == 0 else {
        unsafe Unmanaged<ThreadStart>.fromOpaque(context).release()
        return false
    }
    pthread_detach(thread)
    return true
}
