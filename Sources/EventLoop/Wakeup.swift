internal import CLibuv

/// Lets other threads wake a loop. Signals that arrive before the loop wakes count as one.
///
/// Not by `uv_async_t`: its sender says that it is done after the loop was woken, and until then
/// the loop spins. On one core a loop takes the processor from the thread that wakes it, and spun
/// until that, of lower priority, got its turn: all of a core while strangers' calls were refused.
@safe package final class Wakeup: LoopHandle {
    /// The half that may be given to other threads.
    package let signal: WakeupSignal
    private var ends: [Int32] = [-1, -1]
    private var onWake: (() -> Void)?

    /// - Parameters:
    ///   - loop: Who is woken.
    ///   - keepsLoopRunning: Whether the loop's `run()` goes on for this wakeup alone.
    ///   - onWake: Called on the loop's thread.
    /// - Throws: `UVError` when no descriptor or memory is left.
    package init(
        loop: Loop, keepsLoopRunning: Bool = true, onWake: @escaping () -> Void
    ) throws(UVError) {
        self.onWake = onWake
        signal = WakeupSignal()
        var opened: [Int32] = [-1, -1]
        try unsafe super.init(loop: loop, uv_poll_t.self, "create a wakeup") { loop, poll in
            var result = unsafe cuv_wakeup_open(&opened)
            guard result == 0 else { return result }
            result = unsafe uv_poll_init(loop, poll, opened[0])
            if result != 0 { unsafe cuv_wakeup_close(opened) }
            return result
        }
        ends = opened
        let result = unsafe uv_poll_start(
            pointer(as: uv_poll_t.self), Int32(UV_READABLE.rawValue)
        ) { poll, _, _ in unsafe Wakeup.receiver(poll).wake() }
        precondition(result == 0, "a descriptor that polls can be polled")
        signal.open(opened[1])
        if !keepsLoopRunning { doNotKeepLoopRunning() }
    }

    /// Signals after the emptying wake the loop anew, so what they announce is not slept over.
    private func wake() {
        cuv_wakeup_empty(ends[0])
        onWake?()
    }

    override func willClose() { signal.close() }

    override func didClose() {
        unsafe cuv_wakeup_close(ends)
        onWake = nil
    }
}

/// Wakes the loop of a `Wakeup` from any thread; harmless after that is closed.
package final class WakeupSignal: Sendable {
    // Without the lock a signal could go to whoever got the descriptor after the wakeup. It costs
    // some 20 ns, next to microseconds for the wakeup itself.
    private let descriptor = Locked<Int32?>(nil)

    fileprivate init() {}

    fileprivate func open(_ end: Int32) {
        descriptor.withLock { $0 = end }
    }

    fileprivate func close() {
        descriptor.withLock { $0 = nil }
    }

    /// Any thread.
    package func send() {
        descriptor.withLock { end in
            if let end { cuv_wakeup_send(end) }
        }
    }
}
