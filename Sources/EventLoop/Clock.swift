internal import CLibuv

/// Time that only moves forward, from an arbitrary start; for durations and deadlines.
package enum MonotonicClock {
    /// Microseconds since an arbitrary start. Any thread; no system call on Linux.
    package static var nowMicroseconds: UInt64 { uv_hrtime() / 1_000 }
    /// Milliseconds since the same start.
    package static var nowMilliseconds: UInt64 { uv_hrtime() / 1_000_000 }
}

/// The time of day, which an operator may set back.
package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z. Any thread; no system call on Linux.
    package static var nowMilliseconds: Int64 {
        var time = uv_timeval64_t()
        guard unsafe uv_gettimeofday(&time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_usec) / 1_000
    }
}
