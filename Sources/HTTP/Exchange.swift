/// One request on its way in, and its response.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | head awaited | head | body awaited, or answered (refused, or needs no body) |
/// | body awaited | piece | the same; past the limit the rest is thrown away |
/// | body awaited | end | working, or answered |
/// | working | the handler returns; the listener gives up | answered |
///
/// `@unchecked Sendable`: the library's thread has it until the request is whole, then one worker
/// under `PendingWork`'s lock, then the library's thread again.
@safe final class Exchange: @unchecked Sendable {
    /// The target as it stood in the request line.
    let rawTarget: String
    /// The connection that it came on.
    let connection: PeerConnection
    /// The request as far as it is here.
    private(set) var request = HTTPRequest(target: "")
    /// What is to be sent.
    var response: HTTPResponse?
    /// Whether the head is here.
    private(set) var hasHead = false
    /// Whether the library was told to come again before the connection is suspended.
    private(set) var hasSettled = false
    /// Whether the connection ends with the response.
    private(set) var endsConnection = false
    /// Bytes of the body that are in memory, on the listener's account.
    private(set) var bufferedByteCount = 0
    private var discardedByteCount = 0

    init(rawTarget: String, connection: PeerConnection) {
        self.rawTarget = rawTarget
        self.connection = connection
    }

    /// The head is here.
    func take(head: HTTPRequest) {
        hasHead = true
        request = head
    }

    /// Takes a piece of the body.
    func take(body piece: UnsafeRawBufferPointer) {
        unsafe request.body.append(contentsOf: piece)
        bufferedByteCount += piece.count
    }

    /// Forgets the body; what still comes of it is thrown away.
    ///
    /// - Returns: How many bytes were in memory.
    func refuse(with response: HTTPResponse) -> Int {
        self.response = response
        endsConnection = true
        request.body = []
        defer { bufferedByteCount = 0 }
        return bufferedByteCount
    }

    /// The library comes again, and has stopped reading by then.
    func settle() { hasSettled = true }

    /// Counts what was thrown away.
    ///
    /// - Returns: Whether that was too much, too.
    func discard(_ count: Int, limit: Int) -> Bool {
        discardedByteCount += count
        return discardedByteCount > limit
    }
}
