internal import EventLoop
internal import Transport

/// Shows once a second that the main thread and the event loops turn: to the liveness probe, and to
/// a service manager that watches.
///
/// At idle nothing else wakes a loop, so this runs only where somebody looks.
struct Heartbeat {
    /// A thread that has not turned for so long does not turn.
    static let stallMilliseconds: UInt64 = 5_000
    /// How often it beats where a service manager does not ask for more.
    static let intervalMilliseconds: UInt64 = 1_000

    private let timer: Timer

    /// How often a service manager wants to hear of this process, at most; nil: it does not watch.
    ///
    /// See: sd_watchdog_enabled(3).
    static func watchdogMilliseconds(
        _ environment: [String: String], processID: Int32
    ) -> UInt64? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = UInt64(text),
            microseconds > 0
        else { return nil }
        if let owner = environment["WATCHDOG_PID"], owner != String(processID) { return nil }
        return max(1, microseconds / 1_000)
    }

    /// Begins to beat.
    ///
    /// - Parameters:
    ///   - loop: The main thread's.
    ///   - parts: What is watched.
    ///   - watchdogMilliseconds: What the service manager waits at most; nil: none watches.
    ///   - notify: Tells the service manager.
    /// - Throws: `UVError` when the system refuses a timer.
    init(
        on loop: Loop, _ parts: ServingParts, watchdogMilliseconds: UInt64?,
        notify: @escaping (String) -> Void
    ) throws(UVError) {
        let interval = Self.interval(watchdogMilliseconds)
        let isWatched = watchdogMilliseconds != nil
        timer = try Timer(loop: loop) {
            parts.state.turned(atMilliseconds: MonotonicClock.nowMilliseconds)
            let hasStalled = parts.server.stalledMilliseconds >= Self.stallMilliseconds
            parts.server.askLoops()
            // Silence is what makes the service manager act.
            if isWatched, !hasStalled { notify("WATCHDOG=1") }
        }
        parts.state.turned(atMilliseconds: MonotonicClock.nowMilliseconds)
        timer.start(afterMilliseconds: interval, repeatMilliseconds: interval)
    }

    /// Twice in the time that the service manager waits.
    static func interval(_ watchdogMilliseconds: UInt64?) -> UInt64 {
        max(1, min(intervalMilliseconds, (watchdogMilliseconds ?? .max) / 2))
    }

    func stop() { timer.close() }
}
