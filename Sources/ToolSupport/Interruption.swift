internal import Glibc
internal import Synchronization

/// Ctrl-C and SIGTERM while a process of ours runs: it is ended, and the tool ends in order.
package enum Interruption {
    static let running = Atomic<Int32>(0)
    private static let received = Atomic<Int32>(0)
    private static let endsAtOnce = Atomic<Bool>(true)

    /// From here on a signal is noted instead of ending the tool.
    ///
    /// With `endsAtOnce` it kills the running process too. Without, the tool ends that in order,
    /// and a second signal kills it and the tool: whoever asks twice does not want to wait.
    package static func watch(endsAtOnce: Bool = true) {
        self.endsAtOnce.store(endsAtOnce, ordering: .relaxed)
        // Made now: a signal handler may not be the first to touch a global.
        _ = (received.load(ordering: .relaxed), running.load(ordering: .relaxed))
        // Only what a signal handler may do: atomics, kill(2) and _exit(2).
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                let earlier = Interruption.received.exchange(number, ordering: .relaxed)
                let endsAtOnce = Interruption.endsAtOnce.load(ordering: .relaxed)
                let process = Interruption.running.load(ordering: .relaxed)
                guard endsAtOnce || earlier != 0 else { return }
                if process > 0 { kill(process, SIGKILL) }
                if !endsAtOnce { _exit(ExitStatus.interrupted.rawValue) }
            }
        }
    }

    /// Forgets the running process: it is meant to outlive the tool.
    package static func release() { running.store(0, ordering: .relaxed) }

    /// The signal that came; nil = none.
    package static var signalNumber: Int32? {
        let number = received.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
