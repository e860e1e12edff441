internal import CLinux

/// Which processors threads and processes run on.
package enum Processors {
    /// Those that the calling thread may run on, ascending.
    package static var available: [Int] {
        var numbers = [Int32](repeating: 0, count: 1_024)
        let count = unsafe numbers.withUnsafeMutableBufferPointer { buffer in
            unsafe clinux_thread_processors(buffer.baseAddress, buffer.count)
        }
        return numbers.prefix(max(0, Int(count))).map(Int.init)
    }

    /// Lets the calling thread, and what it starts from now on, run on these only.
    ///
    /// - Throws: `CommandFailure` when the machine has none of them.
    package static func pin(_ processors: [Int]) throws(CommandFailure) {
        let numbers = processors.map(Int32.init(clamping:))
        let result = unsafe numbers.withUnsafeBufferPointer { buffer in
            unsafe clinux_pin_thread(buffer.baseAddress, buffer.count)
        }
        guard result >= 0 else {
            throw CommandFailure(
                .failed, "processors \(processors): error \(-result)",
                hint: "this process may run on \(available)")
        }
    }

    /// Processor time that a process has used, in nanoseconds; nil when there is none of that
    /// number.
    package static func nanosecondsUsed(byProcess id: Int32) -> Int64? {
        let time = clinux_process_time(id)
        return time < 0 ? nil : time
    }
}
