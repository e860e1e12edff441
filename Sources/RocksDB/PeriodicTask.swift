// swift-format-ignore-file: NeverForceUnwrap
// The thread's context is the pointer given to `pthread_create`, never null.
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A thread that calls a function again and again, with a pause between, until it is stopped.
///
/// `@unchecked Sendable`: the flag is touched under the mutex only, and the thread's name is
/// constant.
@safe package final class PeriodicTask: @unchecked Sendable {
    /// What the thread and the owner share.
    @safe private final class Shared: @unchecked Sendable {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        let milliseconds: UInt64
        let body: @Sendable () -> Void
        var isStopping = false

        init(milliseconds: UInt64, body: @escaping @Sendable () -> Void) {
            self.milliseconds = milliseconds
            self.body = body
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe condition.initialize(to: pthread_cond_t())
            unsafe pthread_mutex_init(mutex, nil)
            unsafe pthread_cond_init(condition, nil)
        }

        deinit {
            unsafe pthread_cond_destroy(condition)
            unsafe pthread_mutex_destroy(mutex)
            unsafe condition.deallocate()
            unsafe mutex.deallocate()
        }

        /// Waits one pause; false when told to stop.
        func pause() -> Bool {
            var deadline = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &deadline)
            let nanoseconds =
                UInt64(deadline.tv_nsec) + milliseconds % 1_000 * 1_000_000
            deadline.tv_sec += Int(milliseconds / 1_000 + nanoseconds / 1_000_000_000)
            deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            while !isStopping {
                if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
            }
            return !isStopping
        }

        func stop() {
            unsafe pthread_mutex_lock(mutex)
            isStopping = true
            unsafe pthread_cond_signal(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
    }

    private let shared: Shared
    private let thread: pthread_t

    /// Starts the thread. `body` must not hold the last reference to this object.
    package init(everyMilliseconds milliseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
        let shared = Shared(milliseconds: milliseconds, body: body)
        self.shared = shared
        let context = unsafe Unmanaged.passRetained(shared).toOpaque()
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                let shared = unsafe Unmanaged<Shared>.fromOpaque(context!).takeRetainedValue()
                while shared.pause() { shared.body() }
                return nil
            }, context)
        precondition(code == 0, "a thread cannot be started: error \(code)")
        self.thread = thread
    }

    /// Stops the thread and waits for it. Runs once, when the owner lets go.
    deinit {
        shared.stop()
        pthread_join(thread, nil)
    }
}
