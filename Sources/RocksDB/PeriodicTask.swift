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
            // By the wall clock, as a condition counts unless told otherwise, a pause would last
            // for a year when that is set back by a year.
            #if canImport(Glibc)
                var attributes = pthread_condattr_t()
                unsafe pthread_condattr_init(&attributes)
                unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
                unsafe pthread_cond_init(condition, &attributes)
                unsafe pthread_condattr_destroy(&attributes)
            #else
                unsafe pthread_cond_init(condition, nil)
            #endif
        }

        deinit {
            unsafe pthread_cond_destroy(condition)
            unsafe pthread_mutex_destroy(mutex)
            unsafe condition.deallocate()
            unsafe mutex.deallocate()
        }

        /// Waits one pause; false when told to stop.
        func pause() -> Bool {
            let end = ContinuousClock.now + .milliseconds(Int64(clamping: milliseconds))
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            while !isStopping {
                let left = ContinuousClock.now.duration(to: end)
                guard left > .zero else { break }
                wait(for: left)
            }
            return !isStopping
        }

        /// Waits once, at most for so long; the mutex is held.
        private func wait(for left: Duration) {
            let (seconds, attoseconds) = left.components
            var span = timespec()
            span.tv_sec = Int(seconds)
            span.tv_nsec = Int(attoseconds / 1_000_000_000)
            #if canImport(Glibc)
                var deadline = timespec()
                unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
                let nanoseconds = deadline.tv_nsec + span.tv_nsec
                deadline.tv_sec += span.tv_sec + nanoseconds / 1_000_000_000
                deadline.tv_nsec = nanoseconds % 1_000_000_000
                unsafe pthread_cond_timedwait(condition, mutex, &deadline)
            #else
                unsafe pthread_cond_timedwait_relative_np(condition, mutex, &span)
            #endif
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
