@testable import HTTP

/// A gate that threads wait at until a test opens it.
final class Gate: Sendable {
    private let isOpen = Monitor(false)

    /// Lets all pass, now and later.
    func open() { isOpen.withLockNotifying { $0 = true } }

    /// Waits until it is open.
    func pass() { _ = isOpen.wait { $0 ? true : nil } }
}
