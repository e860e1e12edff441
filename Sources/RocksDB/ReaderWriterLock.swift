#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A value that many readers or one writer may use: guards *which* database is open, not what is
/// in it.
///
/// Readers may nest (a scan whose body reads again), for a waiting writer does not hold back new
/// readers; the writer therefore waits with a limit. About 50 ns per read beside a read of 4 us.
///
/// `@unchecked Sendable`: the lock that POSIX makes safe for all threads guards the value, which
/// is touched inside `withReading` and `withWriting` only.
@safe package final class ReaderWriterLock<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>
    private var value: Value

    /// An open lock around `value`.
    package init(_ value: Value) {
        self.value = value
        unsafe lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_rwlock_t())
        let code = unsafe pthread_rwlock_init(lock, nil)
        precondition(code == 0, "a lock cannot be made: error \(code)")
    }

    deinit {
        unsafe pthread_rwlock_destroy(lock)
        unsafe lock.deinitialize(count: 1)
        unsafe lock.deallocate()
    }

    /// Calls `body` beside other readers. Never from inside `withWriting`.
    package func withReading<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let code = unsafe pthread_rwlock_rdlock(lock)
        precondition(code == 0, "reading inside writing: error \(code)")
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body(value)
    }

    /// Calls `body` with nobody else inside; nil when readers did not leave within `seconds`.
    /// Never from inside `withReading`.
    package func withWriting<Result, Failure: Error>(
        within seconds: Int, _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard acquireForWriting(within: seconds) else { return nil }
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body(&value)
    }

    /// Waits in steps of 1 ms: writers are rare (a store that opens again), and Darwin has no
    /// timed lock.
    private func acquireForWriting(within seconds: Int) -> Bool {
        for _ in 0..<max(1, seconds * 1_000) {
            if unsafe pthread_rwlock_trywrlock(lock) == 0 { return true }
            usleep(1_000)
        }
        return false
    }
}
