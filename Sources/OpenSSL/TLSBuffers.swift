internal import COpenSSL

/// Where the TLS connections of one thread put what they decrypt and encrypt.
///
/// A connection uses them for one step at a time and leaves them empty, so one pair serves them
/// all: ten thousand connections cost no buffers at rest. Not thread-safe: one per thread.
@safe package final class TLSBuffers {
    /// The most bytes that one call of `TLSChannel.receive` may be given.
    package static let inputByteCountMax = 64 << 10
    /// The largest record's content (RFC 8446 5.1), of which all but the last byte may have come
    /// before.
    private static let recordByteCountMax = 16 << 10
    /// What an emptied output may keep.
    private static let retainedByteCountMax = 256 << 10

    /// What the library reads from and writes to.
    @unsafe struct Pipe {
        var input: UnsafePointer<UInt8>?
        var inputByteCount = 0
        var output: UnsafeMutablePointer<UInt8>
        var outputByteCount = 0
        var outputCapacity: Int

        /// Makes room for `byteCount` more bytes of output.
        mutating func reserve(_ byteCount: Int) {
            guard unsafe byteCount > outputCapacity - outputByteCount else { return }
            let grown = unsafe max(outputByteCount + byteCount, 2 * outputCapacity)
            let target = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
            unsafe target.update(from: output, count: outputByteCount)
            unsafe output.deallocate()
            unsafe output = target
            unsafe outputCapacity = grown
        }
    }

    let pipe: UnsafeMutablePointer<Pipe>
    let plaintext: UnsafeMutablePointer<UInt8>
    /// Whose output it is.
    private var owner: ObjectIdentifier?
    static let plaintextCapacity = inputByteCountMax + recordByteCountMax

    /// Empty buffers.
    package init() {
        unsafe pipe = .allocate(capacity: 1)
        let capacity = Self.plaintextCapacity
        unsafe pipe.initialize(
            to: Pipe(output: .allocate(capacity: capacity), outputCapacity: capacity))
        unsafe plaintext = .allocate(capacity: Self.plaintextCapacity)
    }

    deinit {
        unsafe pipe.pointee.output.deallocate()
        unsafe pipe.deallocate()
        unsafe plaintext.deallocate()
    }

    /// What was encrypted and is to be sent, in order.
    package var output: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(
                _unsafeStart: UnsafePointer(pipe.pointee.output),
                count: pipe.pointee.outputByteCount)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Whether something is to be sent.
    package var hasOutput: Bool { unsafe pipe.pointee.outputByteCount > 0 }

    /// `channel` is about to write. Output of another one that was not taken would go to a
    /// stranger: that is a fault of the program, and ends it.
    func claim(by channel: TLSChannel) {
        let claimant = ObjectIdentifier(channel)
        precondition(!hasOutput || owner == claimant, "output of another connection is left")
        owner = claimant
    }

    /// It was sent.
    package func removeOutput() {
        unsafe pipe.pointee.outputByteCount = 0
        guard unsafe pipe.pointee.outputCapacity > Self.retainedByteCountMax else { return }
        let capacity = Self.plaintextCapacity
        unsafe pipe.pointee.output.deallocate()
        unsafe pipe.pointee.output = .allocate(capacity: capacity)
        unsafe pipe.pointee.outputCapacity = capacity
    }
}

/// How OpenSSL reads and writes: from the bytes at hand, to the output at hand.
enum TLSPipeMethod {
    /// Made once; it has no state. nil where memory is short.
    @safe private struct Method: @unchecked Sendable {
        let raw: OpaquePointer?
    }

    private static let method: Method = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(type, "entitled pipe") else {
            return unsafe Method(raw: nil)
        }
        unsafe BIO_meth_set_read(method) { bio, target, count in
            unsafe TLSPipeMethod.read(bio, target, count)
        }
        unsafe BIO_meth_set_write(method) { bio, source, count in
            unsafe TLSPipeMethod.write(bio, source, count)
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Nothing is kept back, so a flush has nothing to do; all else is not known here.
            command == Int32(BIO_CTRL_FLUSH) ? 1 : 0
        }
        return unsafe Method(raw: method)
    }()

    /// A BIO over `pipe`, owned by the caller.
    static func makeBIO(
        over pipe: UnsafeMutablePointer<TLSBuffers.Pipe>
    ) throws(OpenSSLError) -> OpaquePointer {
        let attempt = "set up a TLS connection"
        let made = unsafe method.raw.flatMap { unsafe BIO_new($0) }
        let bio = try unsafe OpenSSLError.unwrap(made, attempt)
        unsafe BIO_set_data(bio, UnsafeMutableRawPointer(pipe))
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func pipe(of bio: OpaquePointer?) -> UnsafeMutablePointer<TLSBuffers.Pipe>? {
        unsafe BIO_get_data(bio)?.assumingMemoryBound(to: TLSBuffers.Pipe.self)
    }

    private static func read(
        _ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ count: Int32
    ) -> Int32 {
        guard let pipe = unsafe pipe(of: bio), let target = unsafe target, count > 0 else {
            return -1
        }
        let available = unsafe min(pipe.pointee.inputByteCount, Int(count))
        guard available > 0, let source = unsafe pipe.pointee.input else {
            unsafe entitled_bio_wants_more(bio)
            return -1
        }
        unsafe entitled_bio_is_content(bio)
        unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: available)
        unsafe pipe.pointee.input = source + available
        unsafe pipe.pointee.inputByteCount -= available
        return Int32(available)
    }

    private static func write(
        _ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ count: Int32
    ) -> Int32 {
        guard let pipe = unsafe pipe(of: bio), let source = unsafe source, count > 0 else {
            return -1
        }
        unsafe pipe.pointee.reserve(Int(count))
        let target = unsafe pipe.pointee.output + pipe.pointee.outputByteCount
        unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: Int(count))
        unsafe pipe.pointee.outputByteCount += Int(count)
        unsafe entitled_bio_is_content(bio)
        return count
    }
}
