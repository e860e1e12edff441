#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A value behind a mutex, with a condition to wait for: what listener, workers and client share.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer does not see that one and reports a race for every
/// use.
///
/// `@unchecked Sendable`: `value` is touched between lock and unlock only.
@safe final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// - Parameter value: Handed over; nothing else may refer to its insides but under this lock.
    init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        let isMade =
            unsafe pthread_mutex_init(mutex, nil) == 0 && MonotonicTime.makeCondition(condition)
        precondition(isMade, "the system has no mutex left")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the lock held; `body` must neither block nor lock again.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// The same, and wakes all that wait.
    func withLockNotifying<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// The same, and wakes one that waits: where all of them wait for the same.
    func withLockNotifyingOne<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_signal(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Waits until `body` gives a value; asked again at every notification.
    func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until `body` gives a value, at most until `instant` of `MonotonicTime`; nil then.
    func wait<Result>(until instant: UInt64, _ body: (inout Value) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            let now = MonotonicTime.milliseconds
            guard now < instant else { return nil }
            unsafe MonotonicTime.wait(condition, mutex, until: instant, now: now)
        }
    }
}

/// Time that only goes forward.
enum MonotonicTime {
    /// Milliseconds since some instant before the start of the process.
    static var milliseconds: UInt64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000 + UInt64(now.tv_nsec) / 1_000_000
    }

    /// Makes a condition whose waits end by this time. One that counts by the wall clock, as they
    /// do unless told otherwise, would wait for a year when that is set back by a year.
    fileprivate static func makeCondition(
        _ condition: UnsafeMutablePointer<pthread_cond_t>
    ) -> Bool {
        #if canImport(Glibc)
            var attributes = pthread_condattr_t()
            guard unsafe pthread_condattr_init(&attributes) == 0 else { return false }
            defer { unsafe pthread_condattr_destroy(&attributes) }
            return unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0
                && pthread_cond_init(condition, &attributes) == 0
        #else
            return unsafe pthread_cond_init(condition, nil) == 0
        #endif
    }

    /// Waits once, at most until `instant`; it is `now`.
    fileprivate static func wait(
        _ condition: UnsafeMutablePointer<pthread_cond_t>,
        _ mutex: UnsafeMutablePointer<pthread_mutex_t>, until instant: UInt64, now: UInt64
    ) {
        #if canImport(Glibc)
            var deadline = timespec()
            deadline.tv_sec = Int(instant / 1_000)
            deadline.tv_nsec = Int(instant % 1_000 * 1_000_000)
            unsafe pthread_cond_timedwait(condition, mutex, &deadline)
        #else
            var pause = timespec()
            pause.tv_sec = Int((instant - now) / 1_000)
            pause.tv_nsec = Int((instant - now) % 1_000 * 1_000_000)
            unsafe pthread_cond_timedwait_relative_np(condition, mutex, &pause)
        #endif
    }
}
