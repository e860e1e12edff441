internal import Synchronization

/// Bounds what all connections together may have in the hands of the worker threads.
///
/// Each connection is bounded by its session; ten thousand of them need a bound in common.
final class Admission: Sendable {
    private let countMax: Int
    private let byteCountMax: Int
    private let count = Atomic(0)
    private let byteCount = Atomic(0)

    init(countMax: Int, byteCountMax: Int) {
        precondition(countMax > 0 && byteCountMax > 0)
        self.countMax = countMax
        self.byteCountMax = byteCountMax
    }

    /// Calls admitted and not yet released.
    var outstandingCount: Int { count.load(ordering: .relaxed) }

    /// Lets a call in.
    ///
    /// - Returns: false when it would be too many or too much: refuse it.
    func admit(byteCount bytes: Int) -> Bool {
        let newCount = count.add(1, ordering: .relaxed).newValue
        let newByteCount = byteCount.add(bytes, ordering: .relaxed).newValue
        guard newCount <= countMax, newByteCount <= byteCountMax else {
            release(byteCount: bytes)
            return false
        }
        return true
    }

    /// A call that was let in is done or dropped.
    func release(byteCount bytes: Int) {
        count.subtract(1, ordering: .relaxed)
        byteCount.subtract(bytes, ordering: .relaxed)
    }
}
