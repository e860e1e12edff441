internal import CMicrohttpd
internal import Synchronization

/// What the callbacks of one listener work on.
///
/// The library's threads read and write; a handler may wait for a disk, so it never runs on them:
/// the connection is suspended, a worker runs the handler and resumes it. The other way, a thread
/// per connection, costs a thread for each of a thousand clients that do nothing, and still lets
/// them keep the probes out.
@safe final class ListenerCore: Sendable {
    /// How much beyond its limit a body may go and still get an answer; then the connection ends.
    private static let discardedByteCountMax = 32 << 20

    let options: HTTPListenerOptions
    let counters: ListenerCounters
    let registry: ConnectionRegistry
    let pending = PendingWork()
    let watch: ConnectionWatch
    let workers: WorkerPool
    private let early: HTTPListener.EarlyHandler
    private let handler: HTTPListener.Handler
    private let bufferedByteCount = Atomic(0)

    /// - Returns: nil when the system has no threads left.
    init?(
        options: HTTPListenerOptions, early: @escaping HTTPListener.EarlyHandler,
        handler: @escaping HTTPListener.Handler
    ) {
        self.options = options
        self.early = early
        self.handler = handler
        counters = ListenerCounters()
        registry = ConnectionRegistry(options: options, counters: counters)
        guard
            let workers = WorkerPool(
                threadCount: options.workerCount, waitingCountMax: options.waitingRequestCountMax)
        else { return nil }
        guard let watch = ConnectionWatch(registry) else {
            workers.end(until: .max)
            return nil
        }
        self.workers = workers
        self.watch = watch
    }

    // MARK: - One request, on a thread of the library

    /// The next call about a request: its head, a piece of its body, its end, or its response.
    func received(
        _ exchange: Exchange, on connection: OpaquePointer, method: String, version: String,
        piece: UnsafeRawBufferPointer
    ) -> MHD_Result {
        guard exchange.hasHead else {
            return unsafe takeHead(exchange, connection, method: method, version: version)
        }
        if unsafe !piece.isEmpty { return unsafe take(piece, of: exchange) }
        if let response = exchange.response {
            return unsafe send(response, for: exchange, on: connection, isEarly: false)
        }
        guard exchange.hasSettled else {
            // A connection that is resumed while the library still means to read is read first,
            // and closed without an answer when the peer has ended its sending half. At the next
            // call the library has stopped reading.
            exchange.settle()
            return MHD_Result.YES
        }
        unsafe handOver(exchange, connection)
        return MHD_Result.YES
    }

    private func takeHead(
        _ exchange: Exchange, _ connection: OpaquePointer, method: String, version: String
    ) -> MHD_Result {
        let fields = unsafe Self.fields(of: connection)
        let framing = BodyFraming(fields, version: version)
        let target = RequestTarget(exchange.rawTarget)
        exchange.take(
            head: HTTPRequest(
                method: method, target: target?.path ?? "", query: target?.query ?? [],
                fields: fields))
        let isSound = target != nil && FieldRules.areSound(fields, version: version)
        if let refusal = refusal(framing: framing, isSound: isSound) {
            _ = exchange.refuse(with: refusal)
            return unsafe send(refusal, for: exchange, on: connection, isEarly: true)
        }
        guard let response = early(exchange.request) else { return MHD_Result.YES }
        guard framing != .none else {
            // An answer at this point ends the connection; without a body the next call is soon
            // enough, and the connection goes on.
            exchange.response = response
            return MHD_Result.YES
        }
        _ = exchange.refuse(with: response)
        return unsafe send(response, for: exchange, on: connection, isEarly: true)
    }

    private func refusal(framing: BodyFraming, isSound: Bool) -> HTTPResponse? {
        if framing == .ambiguous || !isSound {
            counters.malformedRequests.increase()
            return HTTPResponse(status: 400)
        }
        if case .length(let count) = framing, count > UInt64(options.bodyByteCountMax) {
            counters.tooLargeRequests.increase()
            return HTTPResponse(status: 413)
        }
        return nil
    }

    private func take(_ piece: UnsafeRawBufferPointer, of exchange: Exchange) -> MHD_Result {
        let count = piece.count
        if exchange.response != nil {
            let limit = Self.discardedByteCountMax
            return exchange.discard(count, limit: limit) ? MHD_Result.NO : MHD_Result.YES
        }
        guard count <= options.bodyByteCountMax - exchange.bufferedByteCount else {
            counters.tooLargeRequests.increase()
            refuse(exchange, with: HTTPResponse(status: 413))
            return MHD_Result.YES
        }
        let total = bufferedByteCount.add(count, ordering: .relaxed).newValue
        unsafe exchange.take(body: piece)
        if total > options.bufferedByteCountMax {
            counters.overloadedRequests.increase()
            refuse(exchange, with: .overloaded)
        }
        return MHD_Result.YES
    }

    private func refuse(_ exchange: Exchange, with response: HTTPResponse) {
        bufferedByteCount.subtract(exchange.refuse(with: response), ordering: .relaxed)
    }

    private func handOver(_ exchange: Exchange, _ connection: OpaquePointer) {
        registry.beganAnswering(exchange.connection)
        unsafe MHD_suspend_connection(connection)
        pending.add(exchange, on: unsafe SuspendedConnection(handle: connection))
        let isTaken = workers.submit { [self] in
            pending.finish(exchange, handler(exchange.request))
        }
        if !isTaken {
            counters.overloadedRequests.increase()
            pending.finish(exchange, .overloaded)
        }
    }

    private func send(
        _ response: HTTPResponse, for exchange: Exchange, on connection: OpaquePointer,
        isEarly: Bool
    ) -> MHD_Result {
        registry.beganSending(exchange.connection, isEarly: isEarly)
        let made = unsafe response.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        guard let made = unsafe made else { return MHD_Result.NO }
        defer { unsafe MHD_destroy_response(made) }
        for field in response.fields {
            // The library refuses what would break the head; then the response goes without it.
            _ = unsafe MHD_add_response_header(made, field.name, field.value)
        }
        if exchange.endsConnection || registry.isStopping {
            _ = unsafe MHD_add_response_header(made, "Connection", "close")
        }
        let result = unsafe MHD_queue_response(connection, UInt32(response.status), made)
        if result == MHD_Result.YES { counters.answered(response.status) }
        return result
    }

    /// A request is over, well or not.
    func ended(_ exchange: Exchange, isComplete: Bool) {
        if !isComplete { counters.abortedRequests.increase() }
        bufferedByteCount.subtract(exchange.bufferedByteCount, ordering: .relaxed)
        registry.endedRequest(exchange.connection)
    }

    private static func fields(of connection: OpaquePointer) -> [HTTPField] {
        var fields: [HTTPField] = []
        unsafe withUnsafeMutablePointer(to: &fields) { pointer in
            _ = unsafe MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    let fields = unsafe context?.assumingMemoryBound(to: [HTTPField].self)
                    unsafe fields?.pointee.append(
                        HTTPField(text(name, nameCount), text(value, valueCount)))
                    return MHD_Result.YES
                }, pointer)
        }
        return fields
    }
}

/// Text of the library; what is no UTF-8 is repaired.
private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    unsafe String(
        decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count),
        as: UTF8.self)
}

extension HTTPResponse {
    /// Too much is waiting.
    static let overloaded = HTTPResponse(status: 503, fields: [HTTPField("Retry-After", "1")])
}
