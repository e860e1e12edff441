internal import CLibuv

/// What all handles of a loop share: memory of libuv that lives from `init` to the close callback.
///
/// The object is retained while its handle is open, so a connection needs no other owner.
@safe package class LoopHandle {
    /// The loop that delivers this handle's events.
    package let loop: Loop
    let raw: UnsafeMutablePointer<uv_handle_t>
    /// `close()` was called; no event follows but the last.
    ///
    /// Read and written whole on the loop's thread, as the other variables of handles that say so:
    /// two accesses cannot overlap, and to watch that they do not takes 80 instructions each.
    package private(set) var isClosing: Bool {
        get { unsafe uncheckedIsClosing }
        set { unsafe uncheckedIsClosing = newValue }
    }
    @exclusivity(unchecked) private var uncheckedIsClosing: Bool = false

    /// Allocates `type` and has `initialize` set it up.
    init<Raw>(
        loop: Loop, _ type: Raw.Type, _ operation: String,
        initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Int32
    ) throws(UVError) {
        loop.preconditionOnThread()
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Raw>.size, alignment: MemoryLayout<Raw>.alignment)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Raw>.size)
        let result = unsafe initialize(loop.raw, memory.assumingMemoryBound(to: Raw.self))
        guard result == 0 else {
            unsafe memory.deallocate()
            throw UVError(code: result, operation: operation)
        }
        self.loop = loop
        unsafe raw = memory.assumingMemoryBound(to: uv_handle_t.self)
        unsafe uv_handle_set_data(raw, Unmanaged.passRetained(self).toOpaque())
        loop.openHandleCount += 1
    }

    /// The same memory as the type that it was allocated as.
    func pointer<Raw>(as type: Raw.Type) -> UnsafeMutablePointer<Raw> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: Raw.self)
    }

    /// The object behind a handle that libuv hands to a callback.
    static func owner(of handle: UnsafeMutablePointer<uv_handle_t>) -> LoopHandle? {
        guard let data = unsafe uv_handle_get_data(handle) else { return nil }
        return unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
    }

    /// The object behind any kind of handle, counted as one delivered event.
    static func receiver<Raw>(_ handle: UnsafeMutablePointer<Raw>?) -> Self {
        guard let handle = unsafe handle,
            let data = unsafe uv_handle_get_data(
                UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self))
        else { preconditionFailure("libuv delivered an event without a handle") }
        let owner = unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
        owner.loop.deliveredCount &+= 1
        return unsafe unsafeDowncast(owner, to: Self.self)
    }

    /// Lets the loop end although this handle is open.
    func doNotKeepLoopRunning() {
        unsafe uv_unref(raw)
    }

    /// Ends the handle; a second call does nothing. Memory goes when the loop has let go of it.
    package func close() {
        loop.preconditionOnThread()
        guard !isClosing else { return }
        isClosing = true
        willClose()
        unsafe uv_close(raw) { handle in
            guard let handle = unsafe handle, let data = unsafe uv_handle_get_data(handle) else {
                return
            }
            let owner = unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue()
            owner.loop.openHandleCount -= 1
            owner.didClose()
            unsafe UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    /// Called once before libuv is told.
    func willClose() {}

    /// Called once, last; drop closures and other owners here.
    func didClose() {}
}
