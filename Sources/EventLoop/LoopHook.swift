internal import CLibuv

/// Calls back once in each iteration of a loop; does not keep the loop alive nor wake it.
package final class LoopHook: LoopHandle {
    /// When in the iteration.
    package enum Phase: Sendable {
        /// After all events, just before the loop may sleep.
        case beforeSleep
        /// After the events of this iteration were delivered.
        case afterEvents
    }

    private var onIteration: (() -> Void)?

    /// - Throws: `UVError` when memory is short.
    package init(
        loop: Loop, phase: Phase, onIteration: @escaping () -> Void
    ) throws(UVError) {
        self.onIteration = onIteration
        switch phase {
        case .beforeSleep:
            try unsafe super.init(loop: loop, uv_prepare_t.self, "create a hook") {
                let result = unsafe uv_prepare_init($0, $1)
                guard result == 0 else { return result }
                return unsafe uv_prepare_start($1) { unsafe LoopHook.call($0) }
            }
        case .afterEvents:
            try unsafe super.init(loop: loop, uv_check_t.self, "create a hook") {
                let result = unsafe uv_check_init($0, $1)
                guard result == 0 else { return result }
                return unsafe uv_check_start($1) { unsafe LoopHook.call($0) }
            }
        }
        doNotKeepLoopRunning()
    }

    private static func call<Raw>(_ handle: UnsafeMutablePointer<Raw>?) {
        let hook = unsafe receiver(handle)
        // A hook runs in every iteration, so it is no sign that something happened.
        hook.loop.deliveredCount &-= 1
        hook.onIteration?()
    }

    override func didClose() { onIteration = nil }
}
