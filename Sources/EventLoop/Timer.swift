internal import CLibuv

/// Calls back after a while, once or again and again. Costs nothing while stopped.
package final class Timer: LoopHandle {
    private var onFire: (() -> Void)?

    /// A stopped timer.
    ///
    /// - Parameters:
    ///   - loop: Whose time it follows.
    ///   - onFire: Called on the loop's thread.
    /// - Throws: `UVError` when memory is short.
    package init(loop: Loop, onFire: @escaping () -> Void) throws(UVError) {
        self.onFire = onFire
        try unsafe super.init(loop: loop, uv_timer_t.self, "create a timer") {
            unsafe uv_timer_init($0, $1)
        }
    }

    /// Whether it will fire.
    package var isRunning: Bool { unsafe !isClosing && uv_is_active(raw) != 0 }

    /// Starts it, or starts it anew.
    ///
    /// - Parameters:
    ///   - milliseconds: From now; the loop's cached time is brought up to date first.
    ///   - repeatMilliseconds: 0 = once.
    package func start(afterMilliseconds milliseconds: UInt64, repeatMilliseconds: UInt64 = 0) {
        guard !isClosing else { return }
        unsafe uv_update_time(loop.raw)
        let result = unsafe uv_timer_start(
            pointer(as: uv_timer_t.self),
            { unsafe Timer.receiver($0).onFire?() }, milliseconds, repeatMilliseconds)
        precondition(result == 0, "an open timer always starts")
    }

    /// Stops it; a second call does nothing.
    package func stop() {
        guard !isClosing else { return }
        unsafe uv_timer_stop(pointer(as: uv_timer_t.self))
    }

    override func didClose() { onFire = nil }
}
