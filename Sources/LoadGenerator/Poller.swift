internal import CLinux
internal import Glibc

/// A set of sockets of one thread, and which of them have something for us.
@safe struct Poller: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<clinux_event>

    /// - Throws: `LoadError.system` when the process has no descriptor left.
    init() throws(LoadError) {
        descriptor = clinux_poller_create()
        unsafe events = .allocate(capacity: Int(CLINUX_EVENT_COUNT_MAX))
        guard descriptor >= 0 else {
            unsafe events.deallocate()
            throw .system(operation: "make a poller", code: -descriptor)
        }
    }

    deinit {
        clinux_close(descriptor)
        unsafe events.deallocate()
    }

    /// Watches a socket for input.
    func add(_ socket: Int32, token: Int, withOutput: Bool = false) throws(LoadError) {
        let result = clinux_poller_add(descriptor, socket, UInt32(token), withOutput ? 1 : 0)
        guard result >= 0 else { throw .system(operation: "watch a socket", code: -result) }
    }

    /// Changes whether a socket is watched for room for output.
    func change(_ socket: Int32, token: Int, withOutput: Bool) throws(LoadError) {
        let result = clinux_poller_change(descriptor, socket, UInt32(token), withOutput ? 1 : 0)
        guard result >= 0 else { throw .system(operation: "watch a socket", code: -result) }
    }

    /// Waits until something is ready, at most so long; how many `event` has then.
    func wait(nanoseconds: UInt64) throws(LoadError) -> Int {
        let count = unsafe clinux_poller_wait(
            descriptor, events, CLINUX_EVENT_COUNT_MAX, Int64(clamping: nanoseconds))
        guard count >= 0 else { throw .system(operation: "wait for sockets", code: -count) }
        return Int(count)
    }

    /// An event of the last wait.
    func event(_ index: Int) -> (token: Int, isReadable: Bool, isWritable: Bool) {
        let event = unsafe events[index]
        return (Int(event.token), event.ready & 1 != 0, event.ready & 2 != 0)
    }
}

/// Clocks in nanoseconds.
enum LoadClock {
    /// Since an arbitrary start.
    static var now: UInt64 { clinux_now() }
    /// Of a processor, used by the calling thread.
    static var threadTime: UInt64 { clinux_thread_time() }
    /// Does nothing for so long, about.
    static func sleep(nanoseconds: UInt64) { usleep(UInt32(clamping: nanoseconds / 1_000)) }
}

/// Where a thread may run.
enum Processors {
    /// Lets the calling thread run on these only.
    static func pin(_ processors: [Int]) throws(LoadError) {
        let numbers = processors.map(Int32.init(clamping:))
        let result = unsafe numbers.withUnsafeBufferPointer { buffer in
            unsafe clinux_pin_thread(buffer.baseAddress, buffer.count)
        }
        guard result >= 0 else { throw .system(operation: "choose processors", code: -result) }
    }
}
