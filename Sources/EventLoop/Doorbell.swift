internal import CLibuv

/// What a thread sleeps at: until it is rung, or until a time is over.
///
/// A ring that comes while nobody waits is kept for the next wait, so nothing that was made ready
/// before the ring is slept over.
@safe package final class Doorbell: @unchecked Sendable {
    // All stored variables are touched only between `uv_mutex_lock` and `uv_mutex_unlock`; libuv
    // documents mutexes and conditions as usable from any thread.
    private let mutex: UnsafeMutablePointer<uv_mutex_t>
    private let condition: UnsafeMutablePointer<uv_cond_t>
    private var isRung = false

    /// Nobody has rung.
    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: uv_mutex_t())
        unsafe condition.initialize(to: uv_cond_t())
        let results = unsafe (uv_mutex_init(mutex), uv_cond_init(condition))
        precondition(results == (0, 0), "the system has no mutex left")
    }

    deinit {
        unsafe uv_cond_destroy(condition)
        unsafe uv_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Wakes the thread that waits, or lets the next wait return at once. Any thread.
    package func ring() {
        unsafe uv_mutex_lock(mutex)
        isRung = true
        unsafe uv_cond_signal(condition)
        unsafe uv_mutex_unlock(mutex)
    }

    /// Sleeps until it is rung or `milliseconds` are over; one thread at a time.
    ///
    /// - Parameter milliseconds: The longest wait; 0 or less: only looks.
    /// - Returns: whether it was rung; the ring is used up then.
    @discardableResult
    package func wait(milliseconds: Int64) -> Bool {
        let end = MonotonicClock.nowMicroseconds
            .addingReportingOverflow(UInt64(max(0, min(milliseconds, 1 << 40))) * 1_000)
            .partialValue
        unsafe uv_mutex_lock(mutex)
        defer { unsafe uv_mutex_unlock(mutex) }
        while !isRung {
            let now = MonotonicClock.nowMicroseconds
            guard now < end else { return false }
            // Wakes for no reason too, as every condition does.
            _ = unsafe uv_cond_timedwait(condition, mutex, (end - now) * 1_000)
        }
        isRung = false
        return true
    }
}
