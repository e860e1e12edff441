internal import CLibuv

/// Which thread is running.
struct ThreadIdentity: Equatable {
    private let handle: uv_thread_t

    /// The running thread's.
    static var current: ThreadIdentity { ThreadIdentity(handle: uv_thread_self()) }

    static func == (left: ThreadIdentity, right: ThreadIdentity) -> Bool {
        var (left, right) = (left.handle, right.handle)
        return unsafe uv_thread_equal(&left, &right) != 0
    }
}

/// A named thread that runs one function.
package final class Thread: Sendable {
    /// 8 MiB, as a main thread has: musl and macOS give far less by themselves.
    package static let stackByteCount = 8 * 1_024 * 1_024

    private let handle: Locked<uv_thread_t?>

    /// Who goes first when cores are short.
    package enum Priority: Sendable {
        /// For those that work briefly whenever they are woken: they are let in at once, instead of
        /// when the thread that runs has had its turn, which may be as long as the 4 ms between
        /// two ticks of the system's clock. Their share of a busy core is the same. Linux since
        /// 6.12 only.
        case prompt
        /// As the process.
        case normal
        /// After the others; for work that may take milliseconds. Linux only.
        case low
        /// After those of low priority, for what strangers can cause. Linux only.
        case lowest

        /// The shortest turn that Linux grants, in microseconds.
        static let promptSlice: UInt64 = 100

        fileprivate func apply() {
            switch self {
            case .prompt: cuv_set_thread_slice(Self.promptSlice)
            case .normal: break
            // A tenth of the weight of a normal thread when both want one core; a thirtieth. With a
            // third (5) a loop that used two thirds of a core had used up its share when it woke.
            case .low: cuv_set_thread_niceness(10)
            case .lowest: cuv_set_thread_niceness(15)
            }
        }
    }

    /// Lets a thread run that waits for this core; returns at once when there is none (0.5 us).
    ///
    /// For threads that work through a queue, between its elements: otherwise the system
    /// interrupts them only when its clock ticks, every 4 ms, while a loop has requests to answer.
    package static func giveWay() { cuv_yield() }

    /// How long the running thread's turns are where the system tells, in microseconds; else 0.
    static var sliceMicroseconds: UInt64 { cuv_thread_slice() }

    /// What crosses into the new thread.
    private final class Start: Sendable {
        let name: String
        let priority: Priority
        let body: @Sendable () -> Void
        init(name: String, priority: Priority, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.priority = priority
            self.body = body
        }

        func run() {
            let name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
            unsafe name.withCString { unsafe cuv_name_thread($0) }
            priority.apply()
            body()
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: Shown by `top -H`; Linux keeps 15 bytes.
    ///   - priority: Against the other threads.
    ///   - body: The thread ends when it returns.
    /// - Throws: `UVError` when the system refuses another thread.
    package init(
        name: String, priority: Priority = .normal, _ body: @escaping @Sendable () -> Void
    ) throws(UVError) {
        var options = uv_thread_options_t()
        options.flags = UV_THREAD_HAS_STACK_SIZE.rawValue
        options.stack_size = Thread.stackByteCount
        let start = unsafe Unmanaged.passRetained(Start(name: name, priority: priority, body: body))
        var created = uv_thread_t()
        let result = unsafe uv_thread_create_ex(
            &created, &options,
            { argument in
                guard let argument = unsafe argument else { return }
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run()
            }, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            throw UVError(code: result, operation: "start thread", subject: name)
        }
        handle = Locked(created)
    }

    /// Waits for the thread's end; a second call returns at once. Never call it on the thread
    /// itself.
    package func join() {
        let taken = handle.withLock { handle in
            let taken = handle
            handle = nil
            return taken
        }
        guard var taken else { return }
        unsafe uv_thread_join(&taken)
    }
}
