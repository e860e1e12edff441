#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Synchronization

/// The thread that cuts connections past their deadline, and that takes away what still comes for
/// those that were answered early.
final class ConnectionWatch: Sendable {
    /// How long a connection lingers.
    private static let lingerMilliseconds: UInt64 = 2_000
    /// How much a lingering connection may still send.
    private static let lingerByteCountMax = 64 << 20
    /// The longest pause between two looks at the deadlines.
    private static let pauseMilliseconds: UInt64 = 500

    private let registry: ConnectionRegistry
    private let isEnding = Atomic(false)
    private let hasEnded = Monitor(false)
    private let wakeReader: Int32
    private let wakeWriter: Int32

    /// A connection that the library has closed and whose peer may still be sending.
    private struct Lingering {
        let descriptor: Int32
        let deadline: UInt64
        var byteCount = 0
    }

    /// Starts the thread.
    ///
    /// - Returns: nil when the system has none left.
    init?(_ registry: ConnectionRegistry) {
        self.registry = registry
        var ends: [Int32] = [-1, -1]
        guard unsafe ends.withUnsafeMutableBufferPointer({ unsafe pipe($0.baseAddress) }) == 0
        else { return nil }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        guard startThread({ [self] in run() }) else { return nil }
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// Looks at once: something lingers. Any thread.
    func wake() {
        var byte: UInt8 = 0
        _ = unsafe write(wakeWriter, &byte, 1)
    }

    /// Ends the thread and waits for it.
    func end() {
        isEnding.store(true, ordering: .releasing)
        wake()
        _ = hasEnded.wait { $0 ? true : nil }
    }

    private func run() {
        var lingering: [Lingering] = []
        while !isEnding.load(ordering: .acquiring) {
            let now = MonotonicTime.milliseconds
            let next = registry.cutExpired(at: now)
            lingering += registry.takeLingering().map {
                Lingering(descriptor: $0, deadline: now + Self.lingerMilliseconds)
            }
            let pause = min(next - min(next, now), Self.pauseMilliseconds)
            waitForInput(lingering, milliseconds: Int32(pause + 1))
            lingering = lingering.compactMap(drained)
        }
        for entry in lingering { registry.endedLingering(entry.descriptor) }
        for descriptor in registry.takeLingering() { registry.endedLingering(descriptor) }
        hasEnded.withLockNotifying { $0 = true }
    }

    /// Waits until something comes, or the time is over.
    private func waitForInput(_ lingering: [Lingering], milliseconds: Int32) {
        var entries = [pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0)]
        entries += lingering.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let result = unsafe entries.withUnsafeMutableBufferPointer { buffer in
            unsafe poll(buffer.baseAddress, nfds_t(buffer.count), milliseconds)
        }
        guard result > 0, entries[0].revents != 0 else { return }
        var bytes: (UInt64, UInt64) = (0, 0)
        while unsafe read(wakeReader, &bytes, 16) == 16 {}
    }

    /// Takes away what has come.
    ///
    /// - Returns: nil when the connection is at its end, and closed.
    private func drained(_ entry: Lingering) -> Lingering? {
        var entry = entry
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A bounded turn: one fast peer must not hold up the deadlines of the others.
        for _ in 0..<64 {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(
                    entry.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
            }
            entry.byteCount += max(0, count)
            let isEmpty = count < 0 && (errno == EAGAIN || errno == EINTR)
            if isEmpty { break }
            guard count > 0, entry.byteCount <= Self.lingerByteCountMax else {
                registry.endedLingering(entry.descriptor)
                return nil
            }
        }
        if entry.deadline > MonotonicTime.milliseconds { return entry }
        registry.endedLingering(entry.descriptor)
        return nil
    }
}
