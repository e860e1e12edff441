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
            unsafe pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
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
            var deadline = Self.wallClock(in: instant - now)
            unsafe pthread_cond_timedwait(condition, mutex, &deadline)
        }
    }

    /// The condition counts by the wall clock. A step of that clock makes one wait too long or too
    /// short; half a second at most, for then the loop looks at the monotonic one again.
    private static func wallClock(in milliseconds: UInt64) -> timespec {
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &deadline)
        let pause = min(milliseconds, 500)
        let nanoseconds = UInt64(deadline.tv_nsec) + pause * 1_000_000
        deadline.tv_sec += Int(nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        return deadline
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
}
