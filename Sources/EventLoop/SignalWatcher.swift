internal import CLibuv

/// Delivers a signal of the process as an event of a loop; the signal's usual effect is off while
/// the watcher is open. Does not keep the loop alive.
package final class SignalWatcher: LoopHandle {
    /// The signals that a server answers to.
    package enum Signal: CaseIterable, Sendable {
        /// Stop (SIGTERM).
        case terminate
        /// Stop, from a terminal (SIGINT).
        case interrupt
        /// Read the configuration again (SIGHUP).
        case hangup
        /// Write statistics to the log (SIGUSR1).
        case user1

        var number: Int32 {
            switch self {
            case .terminate: SIGTERM
            case .interrupt: SIGINT
            case .hangup: SIGHUP
            case .user1: SIGUSR1
            }
        }
    }

    private var onSignal: (() -> Void)?

    /// - Throws: `UVError` when the system refuses the handler.
    package init(
        loop: Loop, signal: Signal, onSignal: @escaping () -> Void
    ) throws(UVError) {
        self.onSignal = onSignal
        try unsafe super.init(loop: loop, uv_signal_t.self, "watch a signal") {
            unsafe uv_signal_init($0, $1)
        }
        doNotKeepLoopRunning()
        let result = unsafe uv_signal_start(
            pointer(as: uv_signal_t.self),
            { handle, _ in unsafe SignalWatcher.receiver(handle).onSignal?() }, signal.number)
        guard result == 0 else {
            close()
            throw UVError(code: result, operation: "watch a signal")
        }
    }

    override func didClose() { onSignal = nil }
}
