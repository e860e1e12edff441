internal import CLibuv

/// Lets other threads wake a loop. Signals that arrive before the loop wakes count as one.
@safe package final class Wakeup: LoopHandle {
    /// The half that may be given to other threads.
    package let signal: WakeupSignal
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
        try unsafe super.init(loop: loop, uv_async_t.self, "create a wakeup") {
            unsafe uv_async_init($0, $1) { unsafe Wakeup.receiver($0).onWake?() }
        }
        unsafe signal.open(pointer(as: uv_async_t.self))
        if !keepsLoopRunning { doNotKeepLoopRunning() }
    }

    override func willClose() { signal.close() }

    override func didClose() { onWake = nil }
}

/// Wakes the loop of a `Wakeup` from any thread; harmless after that is closed.
@safe package final class WakeupSignal: @unchecked Sendable {
    // `uv_async_send` is libuv's one thread-safe function, but aborts the process on a loop that is
    // gone: hence the lock. It costs some 20 ns, next to microseconds for the wakeup itself.
    private let handle = Locked<Target>(Target())

    @safe private struct Target: @unchecked Sendable {
        var pointer: UnsafeMutablePointer<uv_async_t>?
    }

    fileprivate init() {}

    fileprivate func open(_ pointer: UnsafeMutablePointer<uv_async_t>) {
        let target = unsafe Target(pointer: pointer)
        handle.withLock { $0 = target }
    }

    fileprivate func close() {
        handle.withLock { unsafe $0.pointer = nil }
    }

    /// Any thread.
    package func send() {
        handle.withLock { target in
            guard let pointer = unsafe target.pointer else { return }
            unsafe uv_async_send(pointer)
        }
    }
}
