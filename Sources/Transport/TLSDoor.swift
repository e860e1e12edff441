internal import EventLoop
package import OpenSSL

/// What new TLS connections of a server begin with. Any thread.
package final class TLSDoor: Sendable {
    private let locked: Locked<TLSContext>

    /// A door with this certificate.
    package init(_ context: TLSContext) { locked = Locked(context) }

    /// What a connection begins with now.
    package var context: TLSContext { locked.withLock { $0 } }

    /// New connections begin with `context`; those that are open keep what they have. Sessions of
    /// before are not resumed any more.
    package func replace(with context: TLSContext) { locked.withLock { $0 = context } }
}
