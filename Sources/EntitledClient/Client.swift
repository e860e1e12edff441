internal import EventLoop
internal import Wire

/// A connection to an `entitled` server.
///
/// One client serves a whole process: its calls share a few connections, on which many are in
/// flight at once. It runs one thread of its own. Any task may call it.
///
/// A call that cannot be answered throws ``ClientError``; that a customer has no access is an
/// answer. Whether to let a customer in while the server cannot be reached is the app's choice and
/// not made here.
///
///     let client = try Client(address: "127.0.0.1:7420")
///     let answer = try await client.checkAccess(.customer("u-1001"), product: "meadow.plus")
///     if answer.isGranted { ... }
public final class Client: Sendable {
    /// The configuration that the client was made with.
    public let configuration: ClientConfiguration
    private let thread: LoopThread
    private let inbox: Inbox<Command>
    /// Whether calls are taken. Held while one is handed over, so that closing comes last.
    private let isOpen = Locked(true)

    /// Makes a client. Nothing is connected before the first call.
    ///
    /// - Parameters:
    ///   - address: `host:port`, `[v6]:port`, `localhost:port` or `unix:PATH`; no other name is
    ///     looked up.
    ///   - configuration: How the client behaves.
    /// - Throws: `ClientError.invalidAddress`; `.invalidCredentials`; `.connectionFailed` when the
    ///   system has no thread or memory left.
    public init(
        address: String, configuration: ClientConfiguration = ClientConfiguration()
    ) throws(ClientError) {
        self.configuration = configuration
        let target = try Self.parse(address)
        let tls = try TLSSupport.context(configuration.tls, for: target)
        let started = Locked<Result<Inbox<Command>, UVError>?>(nil)
        do throws(UVError) {
            thread = try LoopThread(name: "entitled-client") { loop in
                let result = Self.setUp(
                    loop, target, tls.map { TLSSupport(context: $0.context, host: $0.host) },
                    configuration)
                started.withLock { $0 = result }
            }
            guard let result = started.withLock({ $0 }) else {
                preconditionFailure("a loop thread has run its set-up when it is there")
            }
            switch result {
            case .success(let inbox): self.inbox = inbox
            case .failure(let error):
                thread.stop()
                thread.join()
                throw error
            }
        } catch {
            throw .connectionFailed("\(error)")
        }
    }

    private static func parse(_ address: String) throws(ClientError) -> SocketAddress {
        do throws(AddressError) {
            return try SocketAddress(address)
        } catch {
            throw .invalidAddress("\(error)")
        }
    }

    private static func setUp(
        _ loop: Loop, _ address: SocketAddress, _ tls: TLSSupport?,
        _ configuration: ClientConfiguration
    ) -> Result<Inbox<Command>, UVError> {
        do throws(UVError) {
            let dispatcher = try Dispatcher(
                loop: loop, address: address, tls: tls, configuration: configuration)
            // Retains the dispatcher until the loop is closed.
            let receiver = try InboxReceiver<Command>(loop: loop) { dispatcher.take($0) }
            return .success(receiver.inbox)
        } catch {
            return .failure(error)
        }
    }

    deinit { close() }

    /// Ends all connections; calls under way throw ``ClientError/closed``. A second call does
    /// nothing.
    public func close() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            inbox.send(.close)
        }
        // The thread stops at once: it waits for no peer.
        thread.join()
    }

    /// Carries out one call.
    ///
    /// A cancelled task gets ``ClientError/cancelled`` at once, and its place is free again.
    func perform(
        _ request: Request.Call, timeout: Duration?, isRepeatable: Bool,
        waitsForApple: Bool = false
    ) async throws(ClientError) -> Response.Result {
        let usual = waitsForApple ? configuration.appStoreTimeout : configuration.timeout
        let call = Call(
            request: request, timeout: timeout ?? usual, isRepeatable: isRepeatable,
            waitsForApple: waitsForApple)
        let outcome = await withTaskCancellationHandler {
            submit(call)
            return await call.outcome()
        } onCancel: {
            call.answer(.failure(.cancelled))
            isOpen.withLock { if $0 { inbox.send(.abandon(call)) } }
        }
        return try outcome.get()
    }

    private func submit(_ call: Call) {
        let isTaken = isOpen.withLock { isOpen in isOpen && inbox.send(.submit(call)) }
        if !isTaken { call.answer(.failure(.closed)) }
    }
}
