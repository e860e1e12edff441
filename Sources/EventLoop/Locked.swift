internal import CLibuv

/// A value behind a mutex of the system.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer does not see that one (Swift 6.3 on Linux) and
/// reports a race for every use; and uncontended it took four times as long on a virtual machine.
@safe package final class Locked<Value>: @unchecked Sendable {
    // Sound because `value` is touched only between lock and unlock.
    private let mutex: UnsafeMutablePointer<uv_mutex_t>
    private var value: Value

    /// - Parameter value: Handed over; nothing else may refer to its insides.
    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: uv_mutex_t())
        let result = unsafe uv_mutex_init(mutex)
        precondition(result == 0, "the system has no mutex left")
    }

    deinit {
        unsafe uv_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the lock held; `body` must neither block nor lock again.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe uv_mutex_lock(mutex)
        defer { unsafe uv_mutex_unlock(mutex) }
        return body(&value)
    }
}
