internal import CLibuv

/// One libuv loop. All of it, and every handle of it, belongs to the thread that made it.
///
/// A handle that is open keeps itself alive; `close()` closes those that are left.
@safe package final class Loop {
    /// The most bytes that one read delivers. 64 KiB hold over 500 requests of 103 bytes, so 16
    /// connections with 64 requests in flight each still need one read per wakeup.
    package static let readByteCountMax = 65_536

    /// See `readState`.
    @unsafe struct ReadState {
        /// Where every connection of the loop reads to: a read is consumed before the next begins.
        let buffer: UnsafeMutablePointer<CChar>
        /// The stream that has just filled the buffer. It gets none at libuv's next question: libuv
        /// would read from it up to 32 times, while all others wait.
        var filledBy: UnsafeMutablePointer<uv_handle_t>?
    }

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// What libuv's read callbacks share; the loop's `data`, so that they need not touch an object.
    let readState: UnsafeMutablePointer<ReadState>
    /// Handles that are open or closing; 0 after `close()`.
    package internal(set) var openHandleCount = 0
    /// How many events this loop has delivered; spinning ends when it stands still.
    var deliveredCount: UInt64 = 0
    private let thread = ThreadIdentity.current
    private var isStopping = false
    private var isClosed = false

    /// - Throws: `UVError` when the system has no descriptor or memory left.
    package init() throws(UVError) {
        cuv_ignore_broken_pipes()
        unsafe raw = .allocate(capacity: 1)
        let result = unsafe uv_loop_init(raw)
        guard result == 0 else {
            unsafe raw.deallocate()
            throw UVError(code: result, operation: "create an event loop")
        }
        unsafe readState = .allocate(capacity: 1)
        unsafe readState.initialize(
            to: ReadState(buffer: .allocate(capacity: Loop.readByteCountMax)))
        unsafe raw.pointee.data = UnsafeMutableRawPointer(readState)
    }

    deinit {
        precondition(isClosed, "a Loop must be closed before it is dropped")
        unsafe readState.pointee.buffer.deallocate()
        unsafe readState.deallocate()
        unsafe raw.deallocate()
    }

    /// Milliseconds on the monotonic clock as of this iteration; costs nothing.
    package var nowMilliseconds: UInt64 { unsafe uv_now(raw) }

    /// Traps when called on another thread than the loop's.
    package func preconditionOnThread() {
        precondition(thread == .current, "a Loop was used off its thread")
    }

    /// Serves until `stop()` or until nothing is left that could happen.
    ///
    /// - Parameter spinMicroseconds: How long to poll after the last event before sleeping: with
    /// one
    ///   request in flight it cut the median answer from 120 to 31 us on a virtual machine, at the
    ///   price of a busy core.
    package func run(spinMicroseconds: UInt64 = 0) {
        preconditionOnThread()
        precondition(!isClosed, "a closed Loop cannot run")
        while !isStopping {
            if spinMicroseconds > 0 {
                spin(for: spinMicroseconds)
                if isStopping { break }
                if unsafe uv_run(raw, UV_RUN_ONCE) == 0 { break }
            } else if unsafe uv_run(raw, UV_RUN_DEFAULT) == 0 {
                break
            }
        }
        isStopping = false
    }

    /// Polls without sleeping until nothing has happened for `duration` microseconds.
    ///
    /// An empty poll offers the core to whoever else can run there: on one core the threads that
    /// verify and commit would otherwise wait behind a loop that has nothing to do. Beside one
    /// client that checked without a pause, 2,500 purchases took 2.6 s to take in without the offer
    /// and 1.6 s with it.
    private func spin(for duration: UInt64) {
        var seen = deliveredCount
        var deadline = MonotonicClock.nowMicroseconds + duration
        while !isStopping {
            if unsafe uv_run(raw, UV_RUN_NOWAIT) == 0 { return }
            let now = MonotonicClock.nowMicroseconds
            if seen != deliveredCount {
                seen = deliveredCount
                deadline = now + duration
            } else if now >= deadline {
                return
            } else {
                cuv_yield()
            }
        }
    }

    /// Makes `run()` return after the event at hand. Loop thread only: others use an `Inbox`.
    package func stop() {
        preconditionOnThread()
        isStopping = true
        unsafe uv_stop(raw)
    }

    /// Closes every handle that is left, delivers their last callbacks, and frees the loop.
    package func close() {
        preconditionOnThread()
        guard !isClosed else { return }
        isClosed = true
        unsafe uv_walk(
            raw,
            { handle, _ in
                guard let handle = unsafe handle else { return }
                unsafe LoopHandle.owner(of: handle)?.close()
            }, nil)
        while unsafe uv_run(raw, UV_RUN_DEFAULT) != 0 {}
        let result = unsafe uv_loop_close(raw)
        precondition(result == 0, "an event loop was closed with \(openHandleCount) handles open")
    }
}
